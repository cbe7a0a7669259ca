(** The programs of one position on given fractions: what `test_ties.py` compares with the library in Python.

    Tokens are 0, ..., n - 1, and distributions are lists of fractions. Each [theorem_N] lists the numbers of one
    instance: the distribution of what the program of Theorem N returns, and the other sides of its equations. Nothing
    is proved here. *)
From Coq Require Import ZArith QArith Qminmax.
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position one_hot recursive without_replacement k_sequential shared_tokens
  budget plan_selection plan.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Notation masses := (seq Q).
Notation program := (program fractions nat).

(** A fraction as numerator and denominator, which Rocq prints in one way. *)
Definition shown (numbers : seq Q) : seq (Z * Z) := [seq (Qnum (Qred a), Zpos (Qden (Qred a))) | a <- numbers].

Definition listed (m : masses) (v : nat) : fractions := nth (Qmake 0 1) m v.

(** The sets of tokens: the k-th set holds token v where the binary digit v of k is 1. *)
Fixpoint subsets (n : nat) : seq (seq nat) :=
  if n is m.+1 then subsets m ++ [seq rcons H m | H <- subsets m] else [:: [::]].

Section OnePosition.
Variables (n : nat).
Notation tokens := (iota 0 n).
Notation drafted d := (Draw (listed d) Ret).
Notation independent d k := (draw_independent (listed d) k).

(** For each token: accepted by a test, and drawn after the tests. *)
Definition emissions (m : program (emission nat)) : seq Q :=
  flatten [seq [:: chance tokens m (pred1 (v, true)); chance tokens m (pred1 (v, false))] | v <- tokens].
Definition emitted (m : program (emission nat)) : masses := [seq chance tokens m (fun e => e.1 == v) | v <- tokens].

(** The probability that the emitted token is a draft. *)
Definition membership (drafts : program (seq nat)) (verify : seq nat -> program (emission nat)) : Q :=
  chance tokens (bind drafts (fun S => bind (verify S) (fun e => Ret (S, e)))) (fun Se => Se.2.1 \in Se.1).

Definition theorem_1 (t d : masses) : seq Q :=
  emissions (bind (drafted d) (maximal_coupling tokens (listed t) (listed d)))
  ++ [:: overlap tokens (listed t) (listed d)].

Definition theorem_2 (t d : masses) : seq Q :=
  emissions (bind (drafted d) (one_hot tokens (listed t)))
  ++ emissions (bind (drafted d) (sample_and_match (listed t))).

Definition theorem_3 (t d : masses) (k : nat) : seq Q :=
  emissions (bind (independent d k) (recursive_rejection tokens (listed t) (listed d)))
  ++ [:: excess tokens (listed t) (listed d) (taken tokens (listed t) (listed d) k zero)].

Definition theorem_4 (t d : masses) (k : nat) : seq Q :=
  emissions (bind (draw_distinct tokens (listed d) k [::]) (verify_distinct tokens (listed d) (listed t) [::])).

Definition theorem_5 (t d : masses) (gamma : fractions) (k : nat) : seq Q :=
  emissions (bind (independent d k) (k_sequential tokens (listed t) (listed d) gamma k))
  ++ [:: test_acceptance tokens (listed t) (listed d) gamma k : Q; f tokens (listed t) (listed d) gamma k : Q].

(** Both sides of the cut: what three verifiers reach, and the bound of each set H, for two laws of drafts. *)
Definition bounds (t : masses) (drafts : program (seq nat)) : seq Q :=
  [seq (one - (chance tokens drafts (all (mem H)) - sum_over H (listed t)))%num : Q | H <- subsets n].
Definition theorem_6 (t d : masses) (gamma : fractions) (k : nat) : seq Q :=
  [:: membership (independent d k) (recursive_rejection tokens (listed t) (listed d));
      membership (independent d k) (k_sequential tokens (listed t) (listed d) gamma k);
      membership (draw_distinct tokens (listed d) k [::]) (verify_distinct tokens (listed d) (listed t) [::])]
  ++ bounds t (independent d k) ++ bounds t (draw_distinct tokens (listed d) k [::]).

(** The optimal plan, the law of the draft that it puts forward, and what it lacks of accepting always. *)
Definition theorem_7 (t d : masses) (k : nat) : seq Q :=
  emissions (bind (independent d k) (plan tokens (listed t) (listed d) k))
  ++ [seq (selection tokens (listed t) (listed d) k v : Q) | v <- tokens]
  ++ [:: deficit tokens (listed t) (listed d) k : Q].

(** The tokens of the target's vocabulary and of the draft's are listed. *)
Definition theorem_13 (t d : masses) (targets drafts : seq nat) : seq Q :=
  let m := [seq (restricted tokens (mem targets) (mem drafts) (listed d) v : Q) | v <- tokens] in
  m ++ emissions (bind (drafted m) (maximal_coupling tokens (listed t) (listed m)))
  ++ [:: overlap tokens (listed t) (listed m) : Q; overlap tokens (listed t) (listed d) : Q].

(** A verifier that is lossless for s and not for t, corrected; one that is lossless for t, biased by e. *)
Definition theorem_14 (t s d : masses) (k : nat) (e : fractions) : seq Q :=
  let drafts := independent d k in
  let lossy := recursive_rejection tokens (listed s) (listed d) in
  let q := emitted (bind drafts lossy) in
  let right := corrected tokens (listed t) (listed q) lossy in
  let lossless := recursive_rejection tokens (listed t) (listed d) in
  let a : fractions := membership drafts lossless in
  let relaxed := biased ((least e (one - a) / (one - a))%num) lossless in
  let law := emitted (bind drafts relaxed) in
  emissions (bind drafts right)
  ++ [:: membership drafts lossy; membership drafts right; excess_mass tokens (listed t) (listed q) : Q]
  ++ law ++ [:: a : Q; membership drafts relaxed; excess_mass tokens (listed t) (listed law) : Q].

End OnePosition.
