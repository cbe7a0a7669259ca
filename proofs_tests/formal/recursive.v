(** Theorem 3. Recursive rejection of k i.i.d. drafts (SpecInfer) is lossless, for every k and every vocabulary.

    The drafts are tested in turn: x is accepted with chance min(1, r(x)/d(x)), where r starts as the target and becomes
    the residual of r and d at each rejection; behind the last draft r itself is drawn from. Let
    E(l) = sum (t - l d)+ be the excess, and l_0 = 0, l_{i+1} = l_i + E(l_i). All k tests reject with probability
    E(l_k), so that a test accepts with probability 1 - E(l_k). *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).

Fixpoint recursive_rejection (t d : V -> K) (drafts : seq V) : program K V (emission V) :=
  if drafts is x :: xs then
    Flip (capped_ratio (t x) (d x)) (Ret (x, true)) (recursive_rejection (residual tokens t d) d xs)
  else Draw t (fun y => Ret (y, false)).

(** The excess of the target over the draft taken l times. *)
Definition excess (t d : V -> K) (l : K) : K := excess_mass tokens t (fun v => multiply l (d v)).

(** How often the draft is taken away after k rejections. *)
Fixpoint taken (t d : V -> K) (k : nat) (l : K) : K :=
  if k is k'.+1 then taken t d k' (add l (excess t d l)) else l.

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Implicit Types (t d : V -> R).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation draw_independent := (@draw_independent (of_field R) V).
Notation residual := (@residual (of_field R) V (enum V)).
Notation capped_ratio := (@capped_ratio (of_field R)).
Notation excess_mass := (@excess_mass (of_field R) V (enum V)).
Notation recursive_rejection := (@recursive_rejection (of_field R) V (enum V)).
Notation excess := (@excess (of_field R) V (enum V)).
Notation taken := (@taken (of_field R) V (enum V)).

Lemma draw_independent_valid d k : is_distribution d -> valid (draw_independent d k).
Proof. by move=> dd; elim: k => [|k IH] //=; split=> // v _; apply: valid_bind. Qed.

(** Drafts that are drawn have a mass, and there are k of them. *)
Lemma valid_after_draws (A : Type) d k (verify : seq V -> program (of_field R) V A) : is_distribution d ->
  (forall xs, size xs = k -> all (fun x => 0 < d x) xs -> valid (verify xs)) ->
  valid (bind (draw_independent d k) verify).
Proof.
move=> dd; elim: k verify => [|k IH] verify law /=; first exact: law.
split=> // x dx; apply: valid_bind_assoc; apply: IH => xs sk dxs; apply: law => /=; first by rewrite sk.
by rewrite dx.
Qed.

Lemma recursive_rejection_valid t d drafts :
  is_distribution t -> is_distribution d -> valid (recursive_rejection t d drafts).
Proof.
move=> + dd; elim: drafts t => [|x xs IH] t dt /=; first by split.
split; first by apply: capped_ratio_in01; [apply: dt.1|apply: dd.1].
by split=> // _; apply: IH; apply: residual_is_distribution.
Qed.

(** The first draft is accepted as v with mass min(t, d)(v); what follows a rejection has the mass of the excess. *)
Lemma test_of_one_draft t d (f : V -> R) (rest : R) : is_distribution t -> is_distribution d ->
  \sum_x d x * (capped_ratio (t x) (d x) * f x + (1 - capped_ratio (t x) (d x)) * rest)
    = \sum_x Num.min (t x) (d x) * f x + excess_mass t d * rest.
Proof.
move=> dt dd.
under eq_bigr => x _ do
  rewrite mulrDr !mulrA mulrBr mulr1 draft_mul_capped_ratio ?dt.1 ?dd.1 //.
rewrite big_split /= -mulr_suml sumrB dd.2 -overlapE -dt.2 -(overlap_add_excess t d).
by rewrite [X in X - _]addrC addrK.
Qed.

Lemma expect_recursive_step t d k (f : emission V -> R) : is_distribution t -> is_distribution d ->
  expect (bind (draw_independent d k.+1) (recursive_rejection t d)) f
    = \sum_x Num.min (t x) (d x) * f (x, true)
      + excess_mass t d * expect (bind (draw_independent d k) (recursive_rejection (residual t d) d)) f.
Proof.
move=> dt dd; rewrite -(test_of_one_draft (fun x => f (x, true))) //= sum_over_enum; apply: eq_bigr => x _.
congr (_ * _); transitivity (expect (draw_independent d k) (fun xs => capped_ratio (t x) (d x) * f (x, true)
    + (1 - capped_ratio (t x) (d x)) * expect (recursive_rejection (residual t d) d xs) f)).
  by rewrite !expect_bind; apply: expect_eq.
by rewrite expect_add (expect_const _ (draw_independent_valid k dd)) expect_bind; congr (_ + _); apply: expect_scale.
Qed.

Theorem recursive_rejection_is_lossless t d k : is_distribution t -> is_distribution d ->
  lossless (draw_independent d k) (recursive_rejection t d) t.
Proof.
move=> dt dd; split=> [|v].
  by apply: valid_bind => [|xs]; [apply: draw_independent_valid|apply: recursive_rejection_valid].
rewrite /program.chance; elim: k t dt => [|k IH] t dt; first by rewrite /= sum_over_enum sum_indicator.
rewrite expect_recursive_step // IH; last exact: residual_is_distribution.
by rewrite (sum_indicator (fun x => Num.min (t x) (d x))) excess_mul_residual min_add_positive_part.
Qed.

(** Taking the draft away once more, in masses that are not divided. *)
Lemma excess_of_residual t d l (r : V -> R) : is_distribution d -> 0 <= l ->
  (forall v, excess t d l * r v = Num.max (t v - l * d v) 0) ->
  forall v, excess t d l * Num.max (r v - d v) 0 = Num.max (t v - (l + excess t d l) * d v) 0.
Proof.
move=> dd l0 law v; have e0 : 0 <= excess t d l := excess_mass_ge0 _ _.
have ed0 : 0 <= excess t d l * d v by rewrite mulr_ge0 ?dd.1.
rewrite maxr_pmulr // mulr0 mulrBr law mulrDl opprD addrA.
case: (leP (t v - l * d v) 0) => h; last by [].
by rewrite sub0r !max_r // ?oppr_le0 // subr_le0 (le_trans h).
Qed.

Theorem tests_all_reject_with_the_telescoped_excess t d k : is_distribution t -> is_distribution d ->
  chance (bind (draw_independent d k) (recursive_rejection t d)) (fun e => ~~ e.2) = excess t d (taken t d k 0).
Proof.
move=> dt dd.
have step n l (r : V -> R) : 0 <= l -> is_distribution r ->
    (forall v, excess t d l * r v = Num.max (t v - l * d v) 0) ->
    excess t d l * chance (bind (draw_independent d n) (recursive_rejection r d)) (fun e => ~~ e.2)
      = excess t d (taken t d n l).
  elim: n l r => [|n IH] l r l0 dr law; rewrite /program.chance.
    by rewrite /= sum_over_enum; under eq_bigr do rewrite mulr1; rewrite dr.2 mulr1.
  rewrite expect_recursive_step //= [X in X + _]big1 ?add0r => [|x _]; last exact: mulr0.
  have next := excess_of_residual dd l0 law.
  have total : excess t d l * excess_mass r d = excess t d (l + excess t d l)%R.
    by rewrite excess_massE mulr_sumr [RHS]excess_massE; apply: eq_bigr => v _; apply: next.
  rewrite mulrA total; apply: IH; first by rewrite addr_ge0 ?excess_mass_ge0.
    exact: residual_is_distribution.
  by move=> v; rewrite -total -mulrA excess_mul_residual next.
have e1 : excess t d 0 = 1.
  rewrite /recursive.excess excess_massE -dt.2; apply: eq_bigr => v _ /=.
  by rewrite mul0r subr0 max_l ?dt.1.
rewrite -[LHS]mul1r -e1; apply: step => // v.
by rewrite e1 mul1r mul0r subr0 max_l ?dt.1.
Qed.

End Theorems.
