(** Theorem 10. Block verification (Sun et al.) is lossless for any lookahead and any number of rounds.

    Along a drafted chain the weights are w_0 = 1 and w_i = min(1, w_{i-1} t(x_i)/d(x_i)). Position i < L accepts with
    chance r_i / (r_i + 1 - w_i), where r_i = sum (w_i t - d)+ after x_1..x_i, and position L with chance w_L. The block
    keeps the drafts up to the LAST position that accepts (position 0 always does); behind it a token is drawn from
    (w_i t - d)+ / r_i, or from the target where i = L. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target draft : seq V -> V -> K).
Local Open Scope numbers_scope.

Definition scaled (w : K) (t : V -> K) : V -> K := fun v => w * t v.

(** The mass that the weighted target has above the draft, and the distribution of the token behind a position. *)
Definition left (w : K) (t d : V -> K) : K := excess_mass tokens (scaled w t) d.
Definition weighted_residual (w : K) (t d : V -> K) : V -> K :=
  if is_zero (left w t d) then t else fun v => positive_part (scaled w t v - d v) / left w t d.

Definition next_weight (w : K) (t d : V -> K) (x : V) : K := capped_ratio (w * t x) (d x).

(** What the last position that accepts, from here on, makes of the drafts; None where none accepts. The coins are
    tossed in the order of the positions. *)
Fixpoint last_accepted (prefix : seq V) (w : K) (drafts : seq V) : program K V (option (seq V)) :=
  let t := target prefix in
  if drafts is x :: xs then
    let d := draft prefix in let r := left w t d in
    let later := last_accepted (rcons prefix x) (next_weight w t d x) xs in
    Flip (r / (r + (one - w)))
      (bind later (fun found => if found is Some emitted then Ret (Some (x :: emitted))
                                else Draw (weighted_residual w t d) (fun y => Ret (Some [:: y]))))
      (bind later (fun found => Ret (omap (cons x) found)))
  else Flip w (Draw t (fun y => Ret (Some [:: y]))) (Ret None).

Definition verify_block (prefix drafts : seq V) : program K V (seq V) :=
  let t := target prefix in
  if drafts is x :: xs then
    let d := draft prefix in
    bind (last_accepted (rcons prefix x) (next_weight one t d x) xs)
      (fun found => if found is Some emitted then Ret (x :: emitted)
                    else Draw (weighted_residual one t d) (fun y => Ret [:: y]))
  else Draw t (fun y => Ret [:: y]).

Definition block (lookahead : nat) (prefix : seq V) : program K V (seq V) :=
  bind (draft_chain draft prefix lookahead) (verify_block prefix).

End Programs.
Arguments left : simpl never.
Arguments weighted_residual : simpl never.
Arguments next_weight : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R).
Hypotheses (dt : is_model target) (dd : is_model draft).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V target).
Notation continued := (@continued (of_field R) V target).
Notation draft_chain := (@draft_chain (of_field R) V draft).
Notation left w t d := (@left (of_field R) V (enum V) w t d : R).
Notation weighted_residual := (@weighted_residual (of_field R) V (enum V)).
Notation next_weight w t d x := (@next_weight (of_field R) V w t d x : R).
Notation last_accepted := (@last_accepted (of_field R) V (enum V) target draft).
Notation verify_block := (@verify_block (of_field R) V (enum V) target draft).
Notation block := (@block (of_field R) V (enum V) target draft).
Implicit Types (w : R) (t d : V -> R) (prefix x drafts : seq V).

Lemma left_ge0 w t d : 0 <= left w t d.
Proof. exact: excess_mass_ge0. Qed.

Lemma left_mul_residual w t d v : left w t d * weighted_residual w t d v = Num.max (w * t v - d v) 0.
Proof.
have := excess_mul_residual (fun v => w * t v) d v; rewrite /block.weighted_residual /position.residual /=.
rewrite -/(block.left _ _ _ _); case: eqP => [->|]; last by [].
by rewrite !mul0r.
Qed.

Lemma weighted_residual_is_distribution w t d : is_distribution t -> is_distribution (weighted_residual w t d).
Proof.
move=> dt'; rewrite /block.weighted_residual /=; case: eqP => // /eqP r0; split=> [v|].
  by rewrite divr_ge0 ?positive_part_ge0 ?left_ge0.
by rewrite -mulr_suml -(@excess_massE R V (fun v => w * t v) d) divff.
Qed.

Lemma next_weight_in01 w t d v : 0 <= w -> is_distribution t -> is_distribution d -> 0 <= next_weight w t d v <= 1.
Proof. by move=> w0 dt' dd'; apply: capped_ratio_in01; rewrite ?mulr_ge0 ?dt'.1 ?dd'.1. Qed.

Lemma draft_mul_next_weight w t d v : 0 <= w -> is_distribution t -> is_distribution d ->
  d v * next_weight w t d v = Num.min (w * t v) (d v).
Proof. by move=> w0 dt' dd'; apply: draft_mul_capped_ratio; rewrite ?mulr_ge0 ?dt'.1 ?dd'.1. Qed.

(** The mass of the drafts that no later position keeps. *)
Lemma mass_not_kept w t d : 0 <= w -> is_distribution t -> is_distribution d ->
  \sum_v d v * (1 - next_weight w t d v) = left w t d + (1 - w).
Proof.
move=> w0 dt' dd'; under eq_bigr => v _ do rewrite mulrBr mulr1 draft_mul_next_weight //.
rewrite sumrB dd'.2 -(@overlapE R V (fun v => w * t v) d).
have total : overlap (K := of_field R) (enum V) (fun v => w * t v) d + left w t d = w.
  by rewrite [LHS]overlap_add_excess -mulr_sumr dt'.2 mulr1.
by rewrite -[X in 1 - X](addrK (left w t d)) total opprB addrCA.
Qed.

(** The chance that position i accepts, times the mass that no later position keeps, is the mass that is left. *)
Lemma chance_mul_mass w t d : w <= 1 -> (left w t d + (1 - w)) * (left w t d / (left w t d + (1 - w))) = left w t d.
Proof.
move=> w1; have [e0|e0] := eqVneq (left w t d + (1 - w)) 0; last by rewrite mulrC divfK.
move/eqP: (e0); rewrite paddr_eq0 ?left_ge0 ?subr_ge0 // => /andP[/eqP-> _]; by rewrite mul0r mulr0.
Qed.

Lemma chance_in01 w t d : w <= 1 -> 0 <= left w t d / (left w t d + (1 - w)) <= 1.
Proof.
move=> w1; have l0 := left_ge0 w t d; have s0 : 0 <= left w t d + (1 - w) by rewrite addr_ge0 // subr_ge0.
rewrite divr_ge0 //=; move: s0; rewrite le_eqVlt => /predU1P[<-|s0]; first by rewrite invr0 mulr0 ler01.
by rewrite ler_pdivr_mulr // mul1r ler_addl subr_ge0.
Qed.

Lemma last_accepted_valid prefix w drafts : 0 <= w <= 1 -> valid (last_accepted prefix w drafts).
Proof.
elim: drafts prefix w => [|x xs IH] prefix w w01 /=; first by split=> //; split=> // _; split.
have /andP[w0 w1] := w01; split; first exact: chance_in01.
have vl := IH (rcons prefix x) _ (next_weight_in01 x w0 (dt prefix) (dd prefix)).
split=> _; apply: valid_bind => // [[emitted|]] //=; split=> //; exact: weighted_residual_is_distribution.
Qed.

Lemma verify_block_valid prefix drafts : valid (verify_block prefix drafts).
Proof.
case: drafts => [|x xs] /=; first by split.
apply: valid_bind => [|[emitted|]] //=; last by split=> //; apply: weighted_residual_is_distribution.
by apply: last_accepted_valid; apply: next_weight_in01; rewrite ?ler01.
Qed.

(** What is emitted where a position from here on accepts, as a value that is averaged. *)
Definition kept prefix x (found : option (seq V)) : R :=
  if found is Some emitted then continued prefix emitted x else 0.
Definition none_found (found : option (seq V)) : R := if found is None then 1 else 0.

(** None is found with the probability that is left beside that of finding something. *)
Lemma average_none_found (A : Type) (m : program (of_field R) V A) (run : A -> program (of_field R) V _) prefix :
  valid m -> (forall a, valid (run a)) ->
  expect m (fun a => expect (run a) none_found) = 1 - expect m (fun a => expect (run a) (kept prefix [::])).
Proof.
move=> vm vr; rewrite -[X in X - _](expect_const _ vm) -expect_sub; apply: expect_eq => a.
by rewrite -[X in X - _](expect_const _ (vr a)) -expect_sub; apply: expect_eq => [[e|]] /=; rewrite ?subrr ?subr0.
Qed.

Lemma all1 : 0 <= (1 : R) <= 1. Proof. by rewrite ler01 lexx. Qed.

(** The probability that the first token from m, continued by the target, begins the text x. *)
Definition begins (m : V -> R) prefix x : R := if x is v :: x' then m v * text_chance (rcons prefix v) x' else 1.

Lemma sum_begins (m : V -> R) prefix x : is_distribution m ->
  \sum_y m y * continued prefix [:: y] x = begins m prefix x.
Proof.
move=> dm; case: x => [|v x] /=; first by under eq_bigr do rewrite mulr1; rewrite dm.2.
rewrite -(sum_if_eq m (fun y => text_chance (rcons prefix y) x)); apply: eq_bigr => y _; by case: x.
Qed.

(** With the draft y: what later positions keep, and what position i itself gives where none of them accepts. *)
Lemma last_accepted_step prefix w y xs x :
  let t := target prefix in let d := draft prefix in
  let h := left w t d / (left w t d + (1 - w)) in
  let later := last_accepted (rcons prefix y) (next_weight w t d y) xs in
  expect (last_accepted prefix w (y :: xs)) (kept prefix x)
    = expect later (fun found => if found is Some emitted then continued prefix (y :: emitted) x else 0)
      + h * begins (weighted_residual w t d) prefix x * expect later none_found.
Proof.
move=> t d h later; have dr := weighted_residual_is_distribution w d (dt prefix).
set A := fun found : option (seq V) => if found is Some emitted then continued prefix (y :: emitted) x else 0.
have own : expect (bind later (fun found => if found is Some emitted then Ret (Some (y :: emitted))
      else Draw (weighted_residual w t d) (fun y => Ret (Some [:: y])))) (kept prefix x)
    = expect later A + begins (weighted_residual w t d) prefix x * expect later none_found.
  rewrite expect_bind -expect_scale -expect_add; apply: expect_eq => [[emitted|]].
    by rewrite /= mulr0 addr0.
  by rewrite expect_draw /= add0r mulr1 -(sum_begins _ _ dr).
have others : expect (bind later (fun found => Ret (omap (cons y) found))) (kept prefix x) = expect later A.
  by rewrite expect_bind; apply: expect_eq => [[emitted|]].
transitivity (h * expect (bind later (fun found => if found is Some emitted then Ret (Some (y :: emitted))
      else Draw (weighted_residual w t d) (fun y => Ret (Some [:: y])))) (kept prefix x)
    + (1 - h) * expect (bind later (fun found => Ret (omap (cons y) found))) (kept prefix x)); first by [].
by rewrite own others mulrDr addrAC -mulrDl addrC mulrA [h + _]addrC subrK mul1r addrC.
Qed.

(** That some position accepts with the weight from here on, and that the text then has the target's distribution. *)
Definition accepted_with_the_weight l : Prop := forall prefix w x, 0 <= w <= 1 ->
  expect (draft_chain prefix l) (fun drafts => expect (last_accepted prefix w drafts) (kept prefix x))
    = w * text_chance prefix x.

(** One more position, which gives a token with chance h where no later one accepts. *)
Lemma average_step l prefix w x (h : R) :
  let t := target prefix in let d := draft prefix in
  0 <= w <= 1 -> (left w t d + (1 - w)) * h = left w t d -> accepted_with_the_weight l ->
  \sum_y d y * expect (draft_chain (rcons prefix y) l) (fun xs =>
      let later := last_accepted (rcons prefix y) (next_weight w t d y) xs in
      expect later (fun found => if found is Some emitted then continued prefix (y :: emitted) x else 0)
        + h * begins (weighted_residual w t d) prefix x * expect later none_found)
    = w * text_chance prefix x.
Proof.
move=> t d w01 own IH; have /andP[w0 w1] := w01.
set B := begins (weighted_residual w t d) prefix x.
pose v' y := next_weight w t d y.
pose later y xs := last_accepted (rcons prefix y) (v' y) xs.
have v01 y : 0 <= v' y <= 1 := next_weight_in01 y w0 (dt prefix) (dd prefix).
have dc y : valid (draft_chain (rcons prefix y) l) := draft_chain_valid dd _ _.
have nobody y : expect (draft_chain (rcons prefix y) l) (fun xs => expect (later y xs) none_found) = 1 - v' y.
  by rewrite (average_none_found (rcons prefix y)) ?IH ?mulr1 // => xs; apply: last_accepted_valid.
have somebody y : expect (draft_chain (rcons prefix y) l) (fun xs => expect (later y xs)
      (fun found => if found is Some emitted then continued prefix (y :: emitted) x else 0))
    = if x is v :: x' then (if y == v then v' y * text_chance (rcons prefix y) x' else 0) else v' y.
  case: x @B => [|v x] B; first by rewrite -[RHS]mulr1 -(IH (rcons prefix y) (v' y) [::] (v01 y)).
  rewrite /=; case: (y == v); first by rewrite -IH.
  rewrite -[RHS](expect_const 0 (dc y)); apply: expect_eq => xs.
  rewrite -[RHS](expect_const 0 (last_accepted_valid (rcons prefix y) xs (v01 y))); by apply: expect_eq => [[emitted|]].
transitivity (\sum_y d y * ((if x is v :: x'
    then (if y == v then v' y * text_chance (rcons prefix y) x' else 0) else v' y) + h * B * (1 - v' y))).
  apply: eq_bigr => y _; congr (_ * _).
  by rewrite -somebody -nobody -expect_scale -expect_add.
under eq_bigr => y _ do rewrite (mulrDr (d y)).
rewrite big_split /=.
have -> : \sum_y d y * (h * B * (1 - v' y)) = left w t d * B.
  under eq_bigr do rewrite mulrCA.
  rewrite -mulr_sumr (mass_not_kept w0 (dt prefix) (dd prefix)).
  by rewrite mulrAC [h * _]mulrC own.
rewrite {}/B; case: x {somebody} => [|v x] /=.
  under eq_bigr do rewrite (draft_mul_next_weight _ w0 (dt prefix) (dd prefix)).
  rewrite !mulr1 -(@overlapE R V (fun v => w * t v) d) [LHS]overlap_add_excess -mulr_sumr (dt prefix).2 mulr1 //.
rewrite (sum_if_eq d (fun y => v' y * text_chance (rcons prefix y) x)) mulrA.
by rewrite (draft_mul_next_weight _ w0 (dt _) (dd _)) mulrA left_mul_residual -mulrDl min_add_positive_part mulrA.
Qed.

Lemma last_accepted_law l : accepted_with_the_weight l.
Proof.
elim: l => [|l IH] prefix w x w01; have /andP[w0 w1] := w01.
  rewrite /= sum_over_enum mulr0 addr0 (sum_begins _ _ (dt prefix)); by case: x.
rewrite -(average_step x w01 (chance_mul_mass _ _ w1) IH) /= sum_over_enum; apply: eq_bigr => y _; congr (_ * _).
by rewrite expect_bind; apply: expect_eq => xs; apply: last_accepted_step.
Qed.

Theorem block_is_lossless lookahead : lossless_block target (block lookahead).
Proof.
move=> prefix; split=> [|x].
  by apply: valid_bind => [|drafts]; [apply: draft_chain_valid|apply: verify_block_valid].
rewrite expect_bind; case: lookahead => [|l].
  rewrite /= sum_over_enum (sum_begins _ _ (dt prefix)); by case: x.
have own : (left 1 (target prefix) (draft prefix) + (1 - 1)) * 1 = left 1 (target prefix) (draft prefix).
  by rewrite subrr addr0 mulr1.
rewrite -[RHS]mul1r -(average_step x all1 own (last_accepted_law l)) /= sum_over_enum.
apply: eq_bigr => y _; congr (_ * _); rewrite expect_bind; apply: expect_eq => xs /=.
rewrite expect_bind mul1r -expect_scale -expect_add; apply: expect_eq => [[emitted|]] /=.
  by rewrite mulr0 addr0.
by rewrite sum_over_enum add0r mulr1 -(sum_begins _ _ (weighted_residual_is_distribution 1 (draft prefix) (dt prefix))).
Qed.

End Theorems.
