(** Controls: wrong verifiers as Rocq programs, each with a proved counterexample.

    Each program differs from a right one in one place, and on the fractions given the token that it emits has another
    distribution than the target. So what is computed can tell a wrong program from a right one. *)
From Coq Require Import ZArith QArith Qminmax.
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive without_replacement k_sequential text instances
  instances_of_blocks.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).
Local Open Scope numbers_scope.
Implicit Types (t d r : V -> K).

(** After a rejection the token is drawn from the target, and not from the residual. *)
Definition target_after_rejection t d (x : V) : program.program K V (emission V) :=
  Flip (capped_ratio (t x) (d x)) (Ret (x, true)) (Draw t (fun y => Ret (y, false))).

(** Where the remainder of K-SEQ is negative it is cut to 0, and what is left divided by its sum. *)
Definition clipped (m : V -> K) : V -> K :=
  fun v => positive_part (m v) / sum_over tokens (fun u => positive_part (m u)).
Fixpoint clipped_k_sequential t d (gamma : K) (k : nat) (drafts : seq V) : program.program K V (emission V) :=
  if drafts is x :: xs then
    Flip (capped_ratio (t x) (gamma * d x)) (Ret (x, true)) (clipped_k_sequential t d gamma k xs)
  else Draw (clipped (remainder tokens t d gamma k)) (fun y => Ret (y, false)).

(** The draft loses a rejected token, and is not divided by the mass that is left. *)
Fixpoint verify_undivided d (r : V -> K) (seen drafts : seq V) : program.program K V (emission V) :=
  if drafts is x :: xs then
    let c := masses_without d seen in
    Flip (capped_ratio (r x) (c x)) (Ret (x, true)) (verify_undivided d (residual tokens r c) (rcons seen x) xs)
  else Draw r (fun y => Ret (y, false)).

End Programs.

Section OnFractions.
Variable n : nat.
Notation tokens := (iota 0 n).

Definition control_1 (t d : masses) : seq Q :=
  emissions n (bind (Draw (listed d) Ret) (target_after_rejection (listed t) (listed d))).
Definition control_4 (t d : masses) (k : nat) : seq Q :=
  emissions n (bind (draw_distinct tokens (listed d) k [::]) (verify_undivided tokens (listed d) (listed t) [::])).
Definition control_5 (t d : masses) (gamma : fractions) (k : nat) : seq Q :=
  emissions n (bind (draw_independent (listed d) k) (clipped_k_sequential tokens (listed t) (listed d) gamma k)).
(** The verifier sees its drafts in the order of their values, and not in the order in which they were drawn. *)
Definition control_of_order (t d : masses) (k : nat) : seq Q :=
  emissions n (bind (draw_distinct tokens (listed d) k [::])
    (fun S => verify_distinct tokens (listed d) (listed t) [::] (sort leq S))).

End OnFractions.

(** The probability that a token is emitted, from the emissions of a program; lossy: it is not the target's. *)
Definition mass (found : seq Q) (v : nat) : Q :=
  Qplus (nth (Qmake 0 1) found v.*2) (nth (Qmake 0 1) found v.*2.+1).
Definition lossy (t : masses) (found : seq Q) : Prop := exists2 v, (v < size t)%N & ~ Qeq (mass found v) (listed t v).

Notation uneven := [:: Qmake 1 4; Qmake 3 4].
Notation even := [:: Qmake 1 2; Qmake 1 2].
Notation rising := [:: Qmake 1 6; Qmake 1 3; Qmake 1 2].
Notation falling := [:: Qmake 1 2; Qmake 1 4; Qmake 1 4].

(** Token 0 has 5/16, and 1/4 by the target; so it has at gamma = 1. *)
Lemma drawing_from_the_target_after_a_rejection_is_lossy : lossy uneven (control_1 2 uneven even).
Proof. by exists 0%N; vm_compute. Qed.

(** At gamma = 1 there is f(gamma) > 0, and without the cut a mass of the remainder is negative: no coin draws it. *)
Lemma k_sequential_below_gamma_star_has_no_remainder :
  Qlt 0 (f [:: 0; 1]%N (listed uneven) (listed even) (Qmake 1 1) 2)
  /\ Qlt (remainder [:: 0; 1]%N (listed uneven) (listed even) (Qmake 1 1) 2 0%N) 0.
Proof. by split; vm_compute. Qed.

Lemma k_sequential_below_gamma_star_is_lossy : lossy uneven (control_5 2 uneven even (Qmake 1 1) 2).
Proof. by exists 0%N; vm_compute. Qed.

(** Token 1 has 5/12, and 1/3 by the target. *)
Lemma drafts_that_are_not_divided_are_lossy : lossy rising (control_4 3 rising falling 2).
Proof. by exists 1%N; vm_compute. Qed.

(** Token 0 has 1/2, and 1/4 by the target. *)
Lemma drafts_in_the_order_of_their_values_are_lossy : lossy uneven (control_of_order 2 uneven even 2).
Proof. by exists 0%N; vm_compute. Qed.

(** So it is for a tree: each node has two drafts, and its verifier sees them sorted. After every prefix the target is
    [uneven] and the draft [even]; the tree gives the text 0 the probability 1/2, and the target 1/4. *)
Definition sorted_tree : seq nat -> program (seq nat) :=
  let prefixes := [:: [::]; [:: 0]; [:: 1]]%N in
  distinct_tree 2 [seq (p, uneven) | p <- prefixes] [seq (p, even) | p <- prefixes] (sort leq) [:: 2; 2]%N.

Lemma a_tree_of_sorted_drafts_is_lossy :
  let target := tabled [:: ([::], uneven)] in
  ~ Qeq (expect [:: 0; 1]%N (sorted_tree [::]) (fun e => continued target [::] e [:: 0%N]))
      (text_chance target [::] [:: 0%N]).
Proof. by vm_compute. Qed.
