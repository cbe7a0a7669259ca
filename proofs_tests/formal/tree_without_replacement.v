(** Theorem 15, second part. A tree drafted without replacement, with recursive rejection at every node, is lossless.

    Below each node, tokens are drafted without replacement from the draft distribution there, as many as [width] says,
    or all tokens of positive mass if there are fewer. The walk starts at the root; at each node it tests the drafts in
    turn as in Theorem 4, emits the token that it accepts or the one that is drawn behind the last test, and goes on
    below it where it was drafted; behind the last level the target gives a token. This is Theorem 9 with the verifier
    of Theorem 4 at every node. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text without_replacement tree.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target draft : seq V -> V -> K).
(** The number of drafts below a node, given the levels that are left (the state of the tree) and the text that leads
    to it. *)
Variable width : nat -> seq V -> nat.

Definition distinct_children (prefix : seq V) (levels : nat) : program K V (seq V) :=
  draw_distinct tokens (draft prefix) (width levels prefix) [::].
Definition verify_children (prefix : seq V) (levels : nat) (drafts : seq V) : program K V (emission V) :=
  verify_distinct tokens (draft prefix) (target prefix) [::] drafts.
Definition level_below (levels : nat) (drafts : seq V) (y : V) : nat := levels.-1.

Definition tree_without_replacement (depth : nat) (prefix : seq V) : program K V (seq V) :=
  tree_decoding target distinct_children verify_children level_below depth depth prefix.

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R) (width : nat -> seq V -> nat).
Hypotheses (dt : is_model target) (dd : is_model draft).
Notation tree_without_replacement := (@tree_without_replacement (of_field R) V (enum V) target draft width).

Theorem tree_without_replacement_is_lossless depth : lossless_block target (tree_without_replacement depth).
Proof. by apply: tree_is_lossless => // prefix levels; apply: distinct_drafts_are_lossless. Qed.

End Theorems.
