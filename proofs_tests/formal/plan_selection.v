(** Theorem 7, third part. The law with which the optimal plan of k i.i.d. drafts puts one of them forward.

    Let D be the largest d(H)^k - t(H) over the sets H of tokens of positive draft mass and of ratio t/d up to that of
    some token, or 0. The law is c = d clip(t/d, lower, upper); the ratio 0 stands for t/d where d = 0. The bound
    [lower] is the one where sum (c - t)+ = D, and [upper] the one where c sums to 1. Both are slopes in the plane of
    draft mass P and target mass T: the lowest from (0, 0) to a point (P, T + D), at most 1, and the steepest from such
    a point to (1, 1), at least 1. Here (P, T) are the masses up to some ratio.
    The ratios c/d are ranks that a mixture of pools can have, and sum min(t, c) >= 1 - D. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive plan_pools plan_mixture.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (t d : V -> K) (k : nat).
Local Open Scope numbers_scope.

Definition ratio (v : V) : K := t v / d v.

(** The target's mass where the draft has mass, and the masses of the tokens up to the ratio of y. *)
Definition in_reach (v : V) : K := d v * ratio v.
Definition draft_up_to (y : V) : K := up_to tokens d ratio y.
Definition target_up_to (y : V) : K := up_to tokens in_reach ratio y.

Definition deficit : K := greatest_of tokens (fun y => power (draft_up_to y) k - target_up_to y) zero.

(** All ratios are raised to [lower], which gains the deficit, and lowered to [upper]. *)
Definition lower : K := one / greatest_of tokens (fun y => draft_up_to y / (target_up_to y + deficit)) one.
Definition upper : K :=
  greatest_of tokens (fun y => (one - (target_up_to y + deficit)) / (one - draft_up_to y)) one.

Definition clipped : V -> K :=
  let low := lower in let high := upper in tabulated tokens (fun v => greatest low (least (ratio v) high)).

(** The law of the draft that is put forward. *)
Definition selection : V -> K := let rank := clipped in fun v => d v * rank v.

End Programs.
Arguments ratio : simpl never.
Arguments in_reach : simpl never.
Arguments deficit : simpl never.
Arguments lower : simpl never.
Arguments upper : simpl never.
Arguments clipped : simpl never.
Arguments selection : simpl never.

Section Selection.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Variables (t d : V -> R) (dt : is_distribution t) (dd : is_distribution d) (k : nat) (k0 : (0 < k)%N).
Notation ratio := (@ratio (of_field R) V t d : V -> R).
Notation in_reach := (@in_reach (of_field R) V t d : V -> R).
Notation deficit := (@deficit (of_field R) V (enum V) t d k : R).
Notation lower := (@lower (of_field R) V (enum V) t d k : R).
Notation upper := (@upper (of_field R) V (enum V) t d k : R).
Notation clipped := (@clipped (of_field R) V (enum V) t d k : V -> R).
Notation selection := (@selection (of_field R) V (enum V) t d k : V -> R).
Notation overlap := (@overlap (of_field R) V (enum V)).
Implicit Types (c x : R) (v y : V).

(** The masses of the tokens of ratio at most c. *)
Notation P c := (\sum_(v | ratio v <= c) d v).
Notation T c := (\sum_(v | ratio v <= c) in_reach v).

Lemma draft_up_toE y : @draft_up_to (of_field R) V (enum V) t d y = P (ratio y).
Proof. by rewrite /draft_up_to /up_to massE; apply: eq_bigl => v; rewrite at_mostE. Qed.

Lemma target_up_toE y : @target_up_to (of_field R) V (enum V) t d y = T (ratio y).
Proof. by rewrite /target_up_to /up_to massE; apply: eq_bigl => v; rewrite at_mostE. Qed.

Lemma in_reachE v : d v != 0 -> in_reach v = t v.
Proof. by move=> dv; rewrite /plan_selection.in_reach /plan_selection.ratio /= mulrC divfK. Qed.

Lemma ratio_ge0 v : 0 <= ratio v.
Proof. by rewrite /plan_selection.ratio /= divr_ge0 ?dt.1 ?dd.1. Qed.

Lemma in_reach_ge0 v : 0 <= in_reach v.
Proof. by rewrite mulr_ge0 ?dd.1 ?ratio_ge0. Qed.

Lemma P_ge0 c : 0 <= P c.
Proof. by apply: sumr_ge0 => v _; apply: dd.1. Qed.

Lemma P_le1 c : P c <= 1.
Proof. by rewrite -dd.2 [X in _ <= X](bigID (fun v => ratio v <= c)) /= ler_addl sumr_ge0 // => v _; apply: dd.1. Qed.

Lemma T_ge0 c : 0 <= T c.
Proof. by apply: sumr_ge0 => v _; apply: in_reach_ge0. Qed.

(** The tokens of ratio at most c are none, or those up to the ratio of a token. *)
Lemma up_to_a_token c (Q : R -> R -> Prop) : Q 0 0 -> (forall y, Q (P (ratio y)) (T (ratio y))) -> Q (P c) (T c).
Proof.
move=> none some; case: (pickP (fun v => ratio v <= c)) => [y yc|no]; last by rewrite !big_pred0.
case: (@Order.TotalTheory.arg_maxP _ _ _ y (fun v => ratio v <= c) ratio yc) => z zc top.
have same v : (ratio v <= c) = (ratio v <= ratio z).
  by apply/idP/idP => [/top //|vz]; apply: le_trans zc.
by rewrite !(eq_bigl _ _ same).
Qed.

Lemma deficitE : deficit = @greatest_of (of_field R) V (enum V) (fun y => P (ratio y) ^+ k - T (ratio y)) 0.
Proof. by apply: greatest_of_eq => y; rewrite powerE draft_up_toE target_up_toE. Qed.

Lemma deficit_ge0 : 0 <= deficit.
Proof. by rewrite deficitE; apply: greatest_of_start. Qed.

Lemma deficit_ge c : P c ^+ k - T c <= deficit.
Proof.
apply: (up_to_a_token c (Q := fun p q => p ^+ k - q <= deficit)) => [|y].
  by rewrite expr0n eqn0Ngt k0 subr0 deficit_ge0.
by rewrite deficitE; apply: (greatest_of_ge (fun y => P (ratio y) ^+ k - T (ratio y)) _ (mem_enum _ y)).
Qed.

Lemma deficit_attained : deficit = 0 \/ exists y, deficit = P (ratio y) ^+ k - T (ratio y).
Proof. by rewrite deficitE; apply: greatest_of_attained. Qed.

Lemma power_le (p : R) : 0 <= p <= 1 -> p ^+ k <= p.
Proof. by move=> /andP[p0 p1]; case: k k0 => // n _; rewrite exprS ler_pimulr // exprn_ile1. Qed.

(** The steepest ascent to a point that the deficit is added to, and from such a point to (1, 1). *)
Lemma lowerE : lower = (@greatest_of (of_field R) V (enum V) (fun y => P (ratio y) / (T (ratio y) + deficit)) 1)^-1.
Proof.
rewrite /plan_selection.lower /= mul1r; congr (_^-1); apply: greatest_of_eq => y.
by rewrite draft_up_toE target_up_toE.
Qed.

Lemma upperE : upper = @greatest_of (of_field R) V (enum V)
  (fun y => (1 - (T (ratio y) + deficit)) / (1 - P (ratio y))) 1.
Proof. by apply: greatest_of_eq => y; rewrite draft_up_toE target_up_toE. Qed.

Lemma lower_in01 : 0 < lower <= 1.
Proof.
rewrite lowerE; set W := greatest_of _ _ _; have W1 : 1 <= W by apply: greatest_of_start.
by rewrite invr_gt0 invf_le1 ?W1 ?andbT; apply: lt_le_trans W1.
Qed.

Lemma upper_ge1 : 1 <= upper.
Proof. by rewrite upperE; apply: greatest_of_start. Qed.

Lemma no_mass c : T c + deficit = 0 -> P c = 0.
Proof.
move=> h; apply/eqP; have := deficit_ge c; rewrite ler_subl_addl h => pk.
have : P c ^+ k == 0 by rewrite eq_le pk exprn_ge0 ?P_ge0.
by rewrite expf_eq0 => /andP[].
Qed.

Lemma lower_le c : lower * P c <= T c + deficit.
Proof.
apply: (up_to_a_token c (Q := fun p q => lower * p <= q + deficit)) => [|y]; first by rewrite mulr0 add0r deficit_ge0.
rewrite lowerE; set W := greatest_of _ _ _; have W1 : 1 <= W by apply: greatest_of_start.
rewrite ler_pdivr_mull; last by apply: lt_le_trans W1.
have [h|h] := eqVneq (T (ratio y) + deficit) 0; first by rewrite h mulr0 (no_mass h).
rewrite -ler_pdivr_mulr.
  exact: (greatest_of_ge (fun y => P (ratio y) / (T (ratio y) + deficit)) _ (mem_enum _ y)).
by rewrite lt_neqAle eq_sym h addr_ge0 ?T_ge0 ?deficit_ge0.
Qed.

Lemma upper_ge c : 1 - (T c + deficit) <= upper * (1 - P c).
Proof.
apply: (up_to_a_token c (Q := fun p q => 1 - (q + deficit) <= upper * (1 - p))) => [|y].
  by rewrite add0r subr0 mulr1 (le_trans _ upper_ge1) // ler_subl_addl ler_addr deficit_ge0.
have [h|h] := eqVneq (1 - P (ratio y)) 0.
  rewrite h mulr0 subr_le0 -ler_subl_addl; apply: le_trans (deficit_ge (ratio y)).
  by move/eqP: h; rewrite subr_eq0 => /eqP <-; rewrite expr1n.
rewrite upperE -ler_pdivr_mulr; last by rewrite lt_neqAle eq_sym h subr_ge0 P_le1.
exact: (greatest_of_ge (fun y => (1 - (T (ratio y) + deficit)) / (1 - P (ratio y))) _ (mem_enum _ y)).
Qed.

(** How much the raise of all ratios to x gains. *)
Definition gain x : R := \sum_v d v * Num.max (x - ratio v) 0.

Lemma gain_ge x c : x * P c - T c <= gain x.
Proof.
rewrite mulr_sumr -sumrB big_mkcond; apply: ler_sum => v _.
case: ifP => _; last by rewrite mulr_ge0 ?dd.1 ?positive_part_ge0.
by rewrite mulrC -mulrBr ler_wpmul2l ?dd.1 // le_maxr lexx.
Qed.

Lemma gain_itself x : gain x = x * P x - T x.
Proof.
rewrite mulr_sumr -sumrB [RHS]big_mkcond; apply: eq_bigr => v _.
case: (leP (ratio v) x) => vx; first by rewrite max_l ?subr_ge0 // mulrBr mulrC.
by rewrite max_r ?mulr0 // subr_le0 ltW.
Qed.

Lemma gain_of_1 : deficit <= gain 1.
Proof.
case: deficit_attained => [->|[y ->]].
  by apply: sumr_ge0 => v _; rewrite mulr_ge0 ?dd.1 ?positive_part_ge0.
apply: le_trans (gain_ge 1 (ratio y)); rewrite mul1r ler_add // power_le // P_ge0 P_le1 //.
Qed.

Lemma gain_of_lower : gain lower = deficit.
Proof.
apply: le_anti; apply/andP; split; first by rewrite gain_itself ler_subl_addl lower_le.
have [l1|l1] := eqVneq lower 1; first by rewrite l1 gain_of_1.
have [h|[y h]] := greatest_of_attained (enum V) (fun y => P (ratio y) / (T (ratio y) + deficit)) 1.
  by move: l1; rewrite lowerE h invr1 eqxx.
apply: le_trans (gain_ge lower (ratio y)).
have /andP[l0 _] := lower_in01; move: l0; rewrite lowerE h invf_div => l0.
have p0 : P (ratio y) != 0 by apply: contraTneq l0 => ->; rewrite invr0 mulr0 ltxx.
by rewrite divfK // addrC addKr.
Qed.

Lemma gain_of_upper : gain upper = upper - (1 - deficit).
Proof.
have rest c : (upper - (1 - deficit)) - (upper * P c - T c) = upper * (1 - P c) - (1 - (T c + deficit)).
  by rewrite sub_sub mulrBr mulr1; congr (_ - _); rewrite opprD addrA [RHS]addrAC.
apply: le_anti; apply/andP; split; first by rewrite gain_itself -subr_ge0 rest subr_ge0 upper_ge.
have [u1|u1] := eqVneq upper 1; first by rewrite u1 opprB addrCA subrr addr0 gain_of_1.
have [h|[y h]] := greatest_of_attained (enum V) (fun y => (1 - (T (ratio y) + deficit)) / (1 - P (ratio y))) 1.
  by move: u1; rewrite upperE h eqxx.
apply: le_trans (gain_ge upper (ratio y)).
have p0 : 1 - P (ratio y) != 0.
  by apply: contraTneq upper_ge1 => p0; rewrite upperE h p0 invr0 mulr0 ler10.
by rewrite -subr_le0 rest {1}upperE h divfK // subrr.
Qed.

(** The ranks of the plan. *)
Lemma clippedE v : clipped v = Num.max lower (Num.min (ratio v) upper).
Proof. exact: tabulatedE. Qed.

Lemma lower_le_upper : lower <= upper.
Proof. by have /andP[_ l1] := lower_in01; apply: le_trans upper_ge1. Qed.

Lemma clipped_by_gains v :
  clipped v = upper + Num.max (lower - ratio v) 0 - Num.max (upper - ratio v) 0.
Proof.
have lu := lower_le_upper; rewrite clippedE; case: (leP (ratio v) upper) => vu.
  rewrite [Num.max (upper - _) _]max_l ?subr_ge0 // opprB [RHS]addrC addrA subrK.
  case: (leP lower (ratio v)) => vl; first by rewrite max_r ?addr0 // subr_le0.
  by rewrite max_l ?subr_ge0 1?ltW // addrC subrK.
rewrite [Num.max (upper - _) _]max_r ?subr_le0 1?ltW // subr0 !max_r ?addr0 // subr_le0.
exact: le_trans (ltW vu).
Qed.

Lemma clipped_total : \sum_v d v * clipped v = 1.
Proof.
under eq_bigr do rewrite clipped_by_gains mulrBr mulrDr.
rewrite sumrB big_split /= -mulr_suml dd.2 mul1r -/(gain _) -/(gain _) gain_of_lower gain_of_upper.
by rewrite opprB [LHS]addrC addrA !subrK.
Qed.

Lemma clipped_feasible : feasible d k clipped.
Proof.
split=> [|y]; first exact: clipped_total.
have lu := lower_le_upper.
have [top|inside] := leP upper (Num.max lower (ratio y)).
  have yu : clipped y = upper.
    rewrite clippedE; move: top; rewrite le_maxr => /orP[ul|uy]; last by rewrite min_r // max_r.
    by apply: le_anti; rewrite le_maxl lu le_minl lexx orbT le_maxr ul.
  have all_in v : (clipped v <= clipped y) = true.
    by rewrite yu clippedE le_maxl lu le_minl lexx orbT.
  by rewrite !(eq_bigl _ _ all_in) dd.2 clipped_total expr1n.
set c := Num.max lower (ratio y) in inside.
have lc : lower <= c by rewrite le_maxr lexx.
have same v : (clipped v <= clipped y) = (ratio v <= c).
  have -> : clipped y = c.
    by rewrite clippedE min_l // ltW // (le_lt_trans _ inside) // le_maxr lexx orbT.
  by rewrite clippedE le_maxl lc le_minl [upper <= c]leNgt inside orbF.
rewrite !(eq_bigl _ _ same).
have -> : \sum_(v | ratio v <= c) d v * clipped v = T c + gain lower; last first.
  by rewrite gain_of_lower -ler_subl_addl deficit_ge.
rewrite /gain [X in _ + X](bigID (fun v => ratio v <= c)) /= addrA -big_split /= [X in _ + X]big1 ?addr0.
  apply: eq_bigr => v vc; rewrite -mulrDr clippedE min_l; last by rewrite (le_trans vc) // ltW.
  case: (leP lower (ratio v)) => vl; first by rewrite max_r ?addr0 // subr_le0.
  by rewrite max_l ?subr_ge0 1?ltW // addrC subrK.
move=> v; rewrite -ltNge => cv; rewrite max_r ?mulr0 // subr_le0; exact: le_trans (ltW cv).
Qed.

Lemma selection_is_distribution : is_distribution selection.
Proof.
split=> [v|]; last exact: clipped_total.
apply: mulr_ge0; first exact: dd.1.
by rewrite -/(clipped v) clippedE le_maxr ltW //; case/andP: lower_in01.
Qed.

Lemma overlap_of_selection : 1 - deficit <= overlap t selection.
Proof.
have -> : overlap t selection = 1 - excess_mass (K := of_field R) (enum V) selection t.
  rewrite -[X in X - _]selection_is_distribution.2 -(overlap_add_excess selection t) addrK !overlapE.
  by apply: eq_bigr => v _; rewrite minC.
rewrite ler_add2l ler_opp2 -gain_of_lower excess_massE; apply: ler_sum => v _.
rewrite le_maxl mulr_ge0 ?dd.1 ?positive_part_ge0 // andbT.
have [d0|dv] := eqVneq (d v) 0; first by rewrite /plan_selection.selection /= d0 !mul0r sub0r oppr_le0 dt.1.
rewrite -(in_reachE dv) -mulrBr ler_wpmul2l ?dd.1 // -/(clipped v) clippedE ler_subl_addr addr_maxl addrNK add0r.
rewrite le_maxl; apply/andP; split; first by rewrite le_maxr (@lexx _ R).
by rewrite le_maxr orbC le_minl (@lexx _ R).
Qed.

(** The deficit is that of a set of tokens. *)
Lemma deficit_of_a_set : exists H : {set V}, deficit = (\sum_(v in H) d v) ^+ k - \sum_(v in H) t v.
Proof.
case: deficit_attained => [->|[y ->]]; first by exists set0; rewrite !big_set0 expr0n eqn0Ngt k0 subrr.
exists [set v | (ratio v <= ratio y) && (d v != 0)].
have drafted (f : V -> R) : (forall v, d v = 0 -> f v = 0) ->
    \sum_(v | ratio v <= ratio y) f v = \sum_(v in [set v | (ratio v <= ratio y) && (d v != 0)]) f v.
  move=> f0; rewrite (bigID (fun v => d v != 0)) /= [X in _ + X]big1 ?addr0 => [|v /andP[_ /negPn/eqP]]; last exact: f0.
  by apply: eq_bigl => v; rewrite inE.
rewrite (drafted d) // (drafted in_reach) => [|v d0]; last by rewrite /plan_selection.in_reach /= d0 mul0r.
by congr (_ - _); apply: eq_bigr => v; rewrite inE => /andP[_ dv]; rewrite in_reachE.
Qed.

End Selection.
