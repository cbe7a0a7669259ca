(** Theorem 4. Recursive rejection of drafts without replacement is lossless, for every k and every vocabulary.

    The drafts are distinct: each is drawn from the draft distribution without the ones before it, divided by the mass
    that is left. There are fewer than k where the draft has fewer tokens. They are tested in turn: x is accepted with
    chance min(1, r(x)/c(x)), where c is the distribution that x was drawn from, and r starts as the target and becomes
    the residual of r and c at each rejection; behind the last draft r itself is drawn from. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (d : V -> K).
Local Open Scope numbers_scope.

(** The masses of the draft without tokens that were drawn, and what they sum to. *)
Definition masses_without (seen : seq V) (v : V) : K := if v \in seen then zero else d v.
Definition mass_left (seen : seq V) : K := sum_over tokens (masses_without seen).
Definition without (seen : seq V) (v : V) : K := masses_without seen v / mass_left seen.

Fixpoint draw_distinct (k : nat) (seen : seq V) : program K V (seq V) :=
  if k is k'.+1 then
    if is_zero (mass_left seen) then Ret [::]
    else Draw (without seen) (fun x => bind (draw_distinct k' (rcons seen x)) (fun xs => Ret (x :: xs)))
  else Ret [::].

Fixpoint verify_distinct (r : V -> K) (seen drafts : seq V) : program K V (emission V) :=
  if drafts is x :: xs then
    let c := without seen in
    Flip (capped_ratio (r x) (c x)) (Ret (x, true)) (verify_distinct (residual tokens r c) (rcons seen x) xs)
  else Draw r (fun y => Ret (y, false)).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (d : V -> R) (dd : is_distribution d).
Local Open Scope ring_scope.
Implicit Types (t r : V -> R) (seen : seq V).
Notation residual := (@residual (of_field R) V (enum V)).
Notation capped_ratio := (@capped_ratio (of_field R)).
Notation mass_left seen := (@mass_left (of_field R) V (enum V) d seen : R).
Notation without := (@without (of_field R) V (enum V) d).
Notation draw_distinct := (@draw_distinct (of_field R) V (enum V) d).
Notation verify_distinct := (@verify_distinct (of_field R) V (enum V) d).

Lemma masses_without_ge0 seen v : 0 <= masses_without (K := of_field R) d seen v.
Proof. by rewrite /masses_without; case: (v \in seen) => //; apply: dd.1. Qed.

Lemma mass_leftE seen : mass_left seen = \sum_v masses_without (K := of_field R) d seen v.
Proof. exact: sum_over_enum. Qed.

Lemma without_is_distribution seen : mass_left seen != 0 -> is_distribution (without seen).
Proof.
move=> m0; split=> [v|]; last by rewrite -mulr_suml -mass_leftE divff.
by rewrite divr_ge0 ?masses_without_ge0 // mass_leftE sumr_ge0 // => u _; apply: masses_without_ge0.
Qed.

Lemma draw_distinct_valid k seen : valid (draw_distinct k seen).
Proof.
elim: k seen => [|k IH] seen //=; case: eqP => [|/eqP] m0 //.
by split=> [|v _]; [apply: without_is_distribution|apply: valid_bind].
Qed.

Theorem distinct_drafts_are_lossless t k :
  is_distribution t -> lossless (draw_distinct k [::]) (verify_distinct t [::]) t.
Proof.
move: [::] => seen dt; split=> [|v].
  elim: k seen t dt => [|k IH] seen t dt /=; first by split.
  case: eqP => [|/eqP] m0 /=; first by split.
  have dc := without_is_distribution m0; split=> // x cx; apply: valid_bind_assoc => /=.
  apply: valid_bind_imply (IH (rcons seen x) _ (residual_is_distribution (without seen) dt)) => xs vxs /=.
  by split=> //; apply: capped_ratio_in01; [apply: dt.1|apply: dc.1].
rewrite /program.chance; elim: k seen t dt => [|k IH] seen t dt; first by rewrite /= sum_over_enum sum_indicator.
rewrite /=; case: eqP => [|/eqP] m0; first by rewrite /= sum_over_enum sum_indicator.
have dc := without_is_distribution m0.
have dr := residual_is_distribution (without seen) dt.
transitivity (\sum_x without seen x * (capped_ratio (t x) (without seen x) * (if x == v then 1 else 0)
    + (1 - capped_ratio (t x) (without seen x)) * residual t (without seen) v)).
  rewrite /= sum_over_enum; apply: eq_bigr => x _; congr (_ * _); rewrite !expect_bind.
  rewrite -(IH (rcons seen x) (residual t (without seen)) dr) expect_bind -expect_scale.
  rewrite -[X in X + _](expect_const _ (draw_distinct_valid k (rcons seen x))) -expect_add.
  exact: expect_eq.
rewrite (test_of_one_draft (fun x => if x == v then 1 else 0)) //.
by rewrite (sum_indicator (fun x => Num.min (t x) (without seen x))) excess_mul_residual min_add_positive_part.
Qed.

End Theorems.
