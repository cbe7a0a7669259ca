(** Theorem 2. One-hot drafts, and sample and match, are lossless however the draft x is chosen, as long as its choice
    does not see the verifier's coins.

    One-hot: accept x with chance t(x), else draw from the residual of the target and the one-hot distribution of x.
    Sample and match: draw y from the target; x is accepted where it equals y. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).

Definition one_hot_at (x : V) : V -> K := fun v => if v == x then one else zero.

Definition one_hot (t : V -> K) (x : V) : program K V (emission V) :=
  Flip (least one (t x)) (Ret (x, true)) (Draw (residual tokens t (one_hot_at x)) (fun y => Ret (y, false))).

Definition sample_and_match (t : V -> K) (x : V) : program K V (emission V) := Draw t (fun y => Ret (y, y == x)).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation excess_mass := (@excess_mass (of_field R) V (enum V)).
Notation one_hot_at := (@one_hot_at (of_field R) V).
Notation one_hot := (@one_hot (of_field R) V (enum V)).
Notation sample_and_match := (@sample_and_match (of_field R) V).
Variables (t : V -> R) (dt : is_distribution t).

(** A verifier that is lossless for every single draft is so for every way to choose the draft. *)
Lemma lossless_for_each_draft (D : Type) (drafts : program (of_field R) V D)
    (verify : D -> program (of_field R) V (emission V)) :
  valid drafts -> (forall x, lossless (Ret x) verify t) -> lossless drafts verify t.
Proof.
move=> vd law; split=> [|v]; first by apply: valid_bind => // x; apply: (law x).1.
rewrite /program.chance expect_bind -(expect_const (t v) vd); apply: expect_eq => x; exact: (law x).2.
Qed.

Lemma target_at_most_one x : t x <= 1.
Proof. by rewrite -dt.2 (bigD1 x) //= ler_addl sumr_ge0 // => v _; apply: dt.1. Qed.

Lemma one_hot_excess x : excess_mass t (one_hot_at x) = 1 - t x.
Proof.
rewrite excess_massE -dt.2 [in RHS](bigD1 x) //= [t x + _]addrC addrK (bigD1 x) //= /one_hot.one_hot_at eqxx.
rewrite max_r ?subr_le0 ?target_at_most_one // add0r; apply: eq_bigr => v /negPf->.
by rewrite subr0 max_l ?dt.1.
Qed.

Theorem one_hot_is_lossless (drafts : program (of_field R) V V) : valid drafts -> lossless drafts (one_hot t) t.
Proof.
move=> vd; apply: lossless_for_each_draft => // x; split=> [|v].
  split; first by rewrite /= le_minr ler01 dt.1 le_minl lexx.
  by split=> // _; split=> //; apply: residual_is_distribution.
rewrite /program.chance [bind _ _]/= expect_flip /= sum_over_enum sum_indicator min_r ?target_at_most_one //.
rewrite -(one_hot_excess x) excess_mul_residual /one_hot.one_hot_at /= eq_sym.
case: eqP => [->|_]; last by rewrite mulr0 add0r subr0 max_l ?dt.1.
by rewrite mulr1 max_r ?addr0 // subr_le0 target_at_most_one.
Qed.

Theorem sample_and_match_is_lossless (drafts : program (of_field R) V V) :
  valid drafts -> lossless drafts (sample_and_match t) t.
Proof.
move=> vd; apply: lossless_for_each_draft => // x; split=> [|v]; first by split.
by rewrite /program.chance expect_draw /= sum_indicator.
Qed.

End Theorems.
