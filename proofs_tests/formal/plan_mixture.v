(** Theorem 7, second part. A mixture of nested pools puts a token forward with any law that convexity allows.

    The mixture flips a coin: heads, it uses the pool rule with the pools of equal rank; tails, it goes on with coarser
    pools. Let the ranks satisfy sum d rank = 1, and sum d rank >= (sum d)^k over the tokens up to each rank. Then the
    mixture puts the token y forward with probability exactly d(y) rank(y): the k drafts are i.i.d. from d. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive plan_pools.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (d : V -> K) (k : nat).
Local Open Scope numbers_scope.
Implicit Types (rank : V -> K) (drafts : seq V).
Notation pool_slope := (pool_slope tokens d k).

(** The same function, with its values computed once. *)
Definition tabulated (f : V -> K) : V -> K :=
  let values := [seq (v, f v) | v <- tokens] in
  fun v => foldr (fun vf rest => if vf.1 == v then vf.2 else rest) zero values.

(** The largest share of the pool rule that leaves ranks in the same order. *)
Definition share rank : K :=
  one / greatest_of (allpairs pair tokens tokens)
    (fun yz => (pool_slope rank yz.2 - pool_slope rank yz.1) / (rank yz.2 - rank yz.1)) one.

(** The ranks of what is left without this share: at least two pools have become one. *)
Definition coarser rank : V -> K :=
  let w := share rank in tabulated (fun v => (rank v - w * pool_slope rank v) / (one - w)).

Fixpoint mixture (steps : nat) rank drafts : program K V V :=
  if steps is n.+1 then
    if is_zero (one - share rank) then pool_rule d rank drafts
    else Flip (share rank) (pool_rule d rank drafts) (mixture n (coarser rank) drafts)
  else pool_rule d rank drafts.

End Programs.
Arguments tabulated : simpl never.
Arguments share : simpl never.
Arguments coarser : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation law := (@law (of_field R) V (enum V) _).
Notation draw_independent := (@draw_independent (of_field R) V).
Notation tabulated := (@tabulated (of_field R) V (enum V)).
Variables (d : V -> R) (dd : is_distribution d) (k : nat) (k0 : (0 < k)%N).
Notation pool_rule := (@pool_rule (of_field R) V d).
Notation pool_slope := (@pool_slope (of_field R) V (enum V) d k).
Implicit Types (rank : V -> R) (S : seq V) (y : V).
Notation mass_up_to rank y := (\sum_(v | rank v <= rank y) d v).
Notation mass_below rank y := (\sum_(v | rank v < rank y) d v).

Lemma tabulatedE (f : V -> R) v : tabulated f v = f v.
Proof.
rewrite /plan_mixture.tabulated; have : v \in enum V by rewrite mem_enum.
elim: (enum V) => //= x s IH; rewrite inE eq_sym; case: eqP => [->|_] //=; exact: IH.
Qed.

Notation share := (@share (of_field R) V (enum V) d k).
Notation coarser := (@coarser (of_field R) V (enum V) d k).
Notation mixture := (@mixture (of_field R) V (enum V) d k).

Lemma mass_subset (P Q : pred V) : (forall v, P v -> Q v) -> \sum_(v | P v) d v <= \sum_(v | Q v) d v.
Proof.
move=> PQ; rewrite big_mkcond [X in _ <= X]big_mkcond; apply: ler_sum => v _.
by case: (boolP (P v)) => [/PQ->|_] //; case: (Q v) => //; apply: dd.1.
Qed.

Lemma mass_ge0 (P : pred V) : 0 <= \sum_(v | P v) d v.
Proof. by apply: sumr_ge0 => v _; apply: dd.1. Qed.

Lemma pool_slope_monotone rank y z : rank y <= rank z -> pool_slope rank y <= pool_slope rank z.
Proof.
move=> yz; rewrite !pool_slopeE.
suff /andP[_] : 0 <= @slope (of_field R) (mass_below rank y) (mass_up_to rank y) k
    <= @slope (of_field R) (mass_below rank z) (mass_up_to rank z) k by [].
by apply: slope_monotone; rewrite mass_ge0; apply: mass_subset => v vy;
  [apply: lt_le_trans vy yz | apply: le_trans vy yz].
Qed.

Lemma pool_slope_of_rank rank y z : rank y = rank z -> pool_slope rank y = pool_slope rank z.
Proof. by move=> yz; apply: le_anti; rewrite !pool_slope_monotone // yz. Qed.

Section OnePart.
Variable rank : V -> R.
Notation s := (pool_slope rank).
Notation w := (share rank : R).

Lemma steepest_pair : exists W : R, [/\ 1 <= W, w = W^-1,
  forall y z, (s z - s y) / (rank z - rank y) <= W & W = 1 \/ exists y z, W = (s z - s y) / (rank z - rank y)].
Proof.
pose f (yz : V * V) : R := (s yz.2 - s yz.1) / (rank yz.2 - rank yz.1).
exists (@greatest_of (of_field R) (V * V)%type (allpairs pair (enum V) (enum V)) f 1); split.
- exact: greatest_of_start.
- by rewrite /plan_mixture.share /= mul1r.
- move=> y z; apply: (greatest_of_ge f 1 (i := (y, z))); apply: allpairs_f; exact: mem_enum.
by case: (greatest_of_attained (allpairs pair (enum V) (enum V)) f 1) => [->|[[y z] ->]]; [left | right; exists y, z].
Qed.

Lemma share_in01 : 0 < w <= 1.
Proof.
have [W [W1 -> _ _]] := steepest_pair; have W0 : 0 < W by apply: lt_le_trans W1.
by rewrite invr_gt0 W0 invf_le1.
Qed.

Lemma left_monotone y z : rank y <= rank z -> rank y - w * s y <= rank z - w * s z.
Proof.
rewrite le_eqVlt => /predU1P[yz|yz]; first by rewrite yz (pool_slope_of_rank yz).
have [W [W1 Ww Wyz _]] := steepest_pair; have W0 : 0 < W by apply: lt_le_trans W1.
rewrite -subr_ge0 sub_sub subr_ge0 -mulrBr Ww ler_pdivr_mull //.
by rewrite -ler_pdivr_mulr ?subr_gt0.
Qed.

Lemma equal_without_the_share : w < 1 -> exists y z, rank y != rank z /\ rank y - w * s y = rank z - w * s z.
Proof.
have [W [W1 -> _ [->|[y [z Wyz]]]]] := steepest_pair; first by rewrite invr1 ltxx.
have W0 : 0 < W by apply: lt_le_trans W1.
have yz : rank y != rank z by apply: contraTneq W0 => yz; rewrite Wyz yz subrr invr0 mulr0 ltxx.
exists y, z; split=> //; apply/eqP; rewrite eq_sym -subr_eq0 sub_sub -mulrBr subr_eq0; apply/eqP.
apply: (mulfI (lt0r_neq0 W0)); rewrite mulVKf ?lt0r_neq0 // Wyz divfK // subr_eq0 eq_sym //.
Qed.

Lemma coarserE y : coarser rank y = (rank y - w * s y) / (1 - w).
Proof. exact: tabulatedE. Qed.

Lemma coarser_monotone y z : w < 1 -> rank y <= rank z -> coarser rank y <= coarser rank z.
Proof. move=> w1 yz; rewrite !coarserE ler_pmul2r ?invr_gt0 ?subr_gt0 //; exact: left_monotone. Qed.

End OnePart.

(** Ranks that a mixture can have. *)
Definition feasible rank : Prop := \sum_v d v * rank v = 1 /\
  forall y, mass_up_to rank y ^+ k <= \sum_(v | rank v <= rank y) d v * rank v.

Lemma coarser_feasible rank : (share rank : R) < 1 -> feasible rank -> feasible (coarser rank).
Proof.
set w := (share rank : R) => w1 [total up]; have w0 : 0 < 1 - w by rewrite subr_gt0.
have without (P : pred V) : \sum_(v | P v) d v * coarser rank v
    = (\sum_(v | P v) d v * rank v - w * \sum_(v | P v) d v * pool_slope rank v) / (1 - w).
  rewrite mulr_sumr -sumrB mulr_suml; apply: eq_bigr => v _.
  by rewrite coarserE -/w mulrA mulrBr [w * (_ * _)]mulrCA.
split=> [|y]; first by rewrite without total (pool_rule_total dd k0) mulr1 divff ?lt0r_neq0.
case: (@Order.TotalTheory.arg_maxP _ _ _ y (fun v => coarser rank v <= coarser rank y) rank (lexx _)) => z zy top.
have same v : (coarser rank v <= coarser rank y) = (rank v <= rank z).
  apply/idP/idP; first exact: top.
  by move=> vz; apply: le_trans zy; apply: coarser_monotone.
rewrite !(eq_bigl _ _ same) without (pool_rule_below dd k0) ler_pdivl_mulr // mulrBr mulr1 ler_add //.
by rewrite ler_oppl opprK mulrC.
Qed.

Lemma settled rank : feasible rank -> share rank = 1 :> R -> forall y, d y * rank y = d y * pool_slope rank y.
Proof.
move=> [total up] w1.
pose gap v := rank v - pool_slope rank v.
have gap_monotone y z : rank y <= rank z -> gap y <= gap z.
  by move=> /left_monotone; rewrite w1 !mul1r.
have gap0 y : 0 <= d y * gap y.
  have [->|dy] := eqVneq (d y) 0; first by rewrite mul0r.
  case: (@Order.TotalTheory.arg_minP _ _ _ y (fun v => d v != 0) rank dy) => z dz low.
  apply: mulr_ge0; first exact: dd.1.
  apply: le_trans (gap_monotone _ _ (low y dy)).
  have dz0 : 0 < d z by rewrite lt_neqAle eq_sym dz dd.1.
  have m0 : 0 < mass_up_to rank z.
    by apply: lt_le_trans dz0 _; rewrite (bigD1 z) //= ler_addl sumr_ge0 // => v _; apply: dd.1.
  rewrite -(pmulr_rge0 _ m0) mulr_suml; have := up z.
  rewrite -(pool_rule_below dd k0) -subr_ge0 -sumrB; congr (0 <= _); apply: eq_bigr => v vz.
  rewrite -mulrBr; have [->|dv] := eqVneq (d v) 0; first by rewrite !mul0r.
  have vE : rank v = rank z by apply: le_anti; rewrite vz low.
  by congr (_ * _); apply: le_anti; rewrite !gap_monotone // vE.
have gaps : \sum_v d v * gap v = 0.
  by under eq_bigr do rewrite mulrBr; rewrite sumrB total (pool_rule_total dd k0) subrr.
by move=> y; apply/eqP; rewrite -subr_eq0 -mulrBr; apply/eqP; apply: (psumr_eq0P _ gaps).
Qed.

Lemma mixture_valid n rank S : valid (mixture n rank S).
Proof.
elim: n rank => [|n IH] rank /=; first exact: pick_valid.
case: eqP => _; first exact: pick_valid.
have /andP[w0 w1] := share_in01 rank; split; first by rewrite w1 ltW.
by split=> _; [exact: pick_valid | exact: IH].
Qed.

(** How many pairs of tokens have different ranks. *)
Definition unequal rank : nat := #|[pred yz : V * V | rank yz.1 != rank yz.2]|.

Lemma coarser_unequal rank : (share rank : R) < 1 -> (unequal (coarser rank) < unequal rank)%N.
Proof.
move=> w1; apply: proper_card; apply/properP; split.
  apply/subsetP => [[y z]]; rewrite !inE /=; apply: contra => /eqP yz.
  by rewrite eq_le !coarser_monotone // yz.
have [y [z [yz same]]] := equal_without_the_share w1; exists (y, z); rewrite !inE //= negbK.
by rewrite !coarserE same.
Qed.

Theorem mixture_law n rank y : feasible rank -> (unequal rank <= n)%N ->
  law (bind (draw_independent d k) (mixture n rank)) y = d y * rank y.
Proof.
elim: n rank => [|n IH] rank ok enough.
  have w1 : share rank = 1 :> R.
    apply: (@le_anti _ R); have /andP[_ ->] := share_in01 rank; rewrite leNgt; apply/negP => /coarser_unequal.
    by rewrite ltnNge (leq_trans enough).
  by rewrite [LHS](pool_rule_law dd k0) (settled ok w1).
have [w1|w1] := eqVneq (1 - share rank) (0 : R).
  have e1 : share rank = 1 :> R by apply/esym/eqP; rewrite -subr_eq0 w1.
  rewrite [mixture _ _]/= w1 eqxx (pool_rule_law dd k0) (settled ok e1) //.
have lt1 : (share rank : R) < 1.
  by have /andP[_ le1] := share_in01 rank; rewrite lt_neqAle le1 andbT eq_sym -subr_eq0.
rewrite /program.law /program.chance expect_bind.
have -> : expect (draw_independent d k) (fun S => expect (mixture n.+1 rank S) (fun v => if pred1 y v then 1 else 0))
    = share rank * law (bind (draw_independent d k) (pool_rule rank)) y
      + (1 - share rank) * law (bind (draw_independent d k) (mixture n (coarser rank))) y.
  rewrite /program.law /program.chance !expect_bind -!expect_scale -expect_add; apply: expect_eq => S.
  by rewrite /= (negPf w1).
rewrite (pool_rule_law dd k0) IH; [|exact: coarser_feasible|]; last by rewrite -ltnS (leq_trans (coarser_unequal lt1)).
have left : (1 - share rank) * coarser rank y = rank y - share rank * pool_slope rank y :> R.
  by rewrite coarserE mulrC divfK.
by rewrite [X in _ + X]mulrCA left mulrBr [X in X + _]mulrCA addrC subrK.
Qed.

(** What is put forward is one of the drafts. *)
Lemma mixture_of_drafts n rank S (f g : V -> R) : S != [::] -> {in S, forall x, f x <= g x} ->
  expect (mixture n rank S) f <= expect (mixture n rank S) g.
Proof.
move=> S0 fg.
have pooled r : expect (pool_rule r S) f <= expect (pool_rule r S) g.
  have n0 : 0 < (size (hits (K := of_field R) r S))%:R :> R by rewrite ltr0n lt0n size_eq0 hits_nonempty.
  rewrite -(ler_pmul2l n0) !pick_uniform big_seq [X in _ <= X]big_seq; apply: ler_sum => x.
  by rewrite mem_filter => /andP[_ /fg].
elim: n rank => [|n IH] rank; first exact: pooled.
rewrite /=; case: eqP => _; first exact: pooled.
have /andP[w0 w1] := share_in01 rank.
by rewrite !expect_flip ler_add // ler_wpmul2l ?subr_ge0 // ltW.
Qed.

End Theorems.
