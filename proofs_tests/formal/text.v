(** Texts: models as functions of the prefix, what a block emits, and what "lossless" means for it.

    A block is lossless if what it emits, continued by the target, has the target's distribution on texts of every
    length, after every prefix. Any number of rounds of a lossless block is then lossless too. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType).
Local Open Scope numbers_scope.

(** The masses of the next token after a prefix. *)
Definition model := seq V -> V -> K.

Implicit Types (target : model) (prefix x emitted : seq V).

(** The probability that the target continues the prefix with the text x. *)
Fixpoint text_chance target prefix x : K :=
  if x is v :: x' then target prefix v * text_chance target (rcons prefix v) x' else one.

(** The probability that the emitted tokens, continued by the target, begin with the text x. *)
Fixpoint continued target prefix emitted x {struct x} : K :=
  match x, emitted with
  | [::], _ => one
  | _, [::] => text_chance target prefix x
  | v :: x', y :: emitted' => if y == v then continued target (rcons prefix y) emitted' x' else zero
  end.

(** Several rounds: each starts from the prefix and what the rounds before it emitted. *)
Fixpoint rounds (n : nat) (generate : seq V -> program K V (seq V)) prefix : program K V (seq V) :=
  if n is n'.+1 then
    bind (generate prefix) (fun e => bind (rounds n' generate (prefix ++ e)) (fun e' => Ret (e ++ e')))
  else Ret [::].

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation model := (seq V -> V -> R).
Notation text_chance := (@text_chance (of_field R) V).
Notation continued := (@continued (of_field R) V).
Implicit Types (target : model) (generate : seq V -> program (seq V)) (prefix x emitted : seq V).

Definition is_model target : Prop := forall prefix, is_distribution (target prefix).

Definition lossless_block target generate : Prop :=
  forall prefix, valid (generate prefix) /\
    forall x, expect (generate prefix) (fun emitted => continued target prefix emitted x) = text_chance target prefix x.

Lemma continued_nil target prefix x : continued target prefix [::] x = text_chance target prefix x.
Proof. by case: x. Qed.

Lemma expect_last_token target prefix (m : V -> R) v x :
  expect (Draw (m : V -> of_field R) (fun y => Ret [:: y])) (fun e => continued target prefix e (v :: x))
    = m v * text_chance target (rcons prefix v) x.
Proof.
rewrite expect_draw -(sum_if_eq m (fun y => text_chance target (rcons prefix y) x)); apply: eq_bigr => y _ /=.
by case: x.
Qed.

Lemma expect_continued_cat target prefix emitted x (m : program (seq V)) :
  valid m ->
  (forall y, expect m (fun e => continued target (prefix ++ emitted) e y) = text_chance target (prefix ++ emitted) y) ->
  expect m (fun e => continued target prefix (emitted ++ e) x) = continued target prefix emitted x.
Proof.
move=> vm; elim: emitted prefix x => [|y emitted IH] prefix x law.
  by rewrite continued_nil -{2}(cats0 prefix) -law cats0.
case: x => [|v x] /=; first exact: expect_const.
case: (y == v); last exact: expect_const.
by apply: IH => x'; rewrite cat_rcons; apply: law.
Qed.

Theorem rounds_of_a_lossless_block_are_lossless target generate n :
  lossless_block target generate -> lossless_block target (rounds n generate).
Proof.
move=> lossless; elim: n => [|n IH] prefix; first by split=> // x; apply: continued_nil.
have [v law] := lossless prefix; split=> [|x] /=.
  by apply: valid_bind => // e; apply: valid_bind; first exact: (IH (prefix ++ e)).1.
rewrite expect_bind -law; apply: expect_eq => e; rewrite expect_bind /=.
by apply: expect_continued_cat; [exact: (IH (prefix ++ e)).1 | exact: (IH (prefix ++ e)).2].
Qed.

End Theorems.
