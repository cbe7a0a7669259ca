(** Numbers that programs compute with, sums over a list, and powers.

    A verifier is written once, over [numbers]: the theorems read it in an ordered field ([of_field]), and Rocq computes
    the same text in fractions ([fractions]), which the tests compare with the library in Python. *)
From Coq Require Import QArith Qminmax.
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Record numbers : Type := Numbers {
  number :> Type;
  zero : number;
  one : number;
  add : number -> number -> number;
  subtract : number -> number -> number;
  multiply : number -> number -> number;
  divide : number -> number -> number;
  least : number -> number -> number;
  greatest : number -> number -> number;
  is_zero : number -> bool
}.
Arguments zero {n}.
Arguments one {n}.
Arguments add {n}.
Arguments subtract {n}.
Arguments multiply {n}.
Arguments divide {n}.
Arguments least {n}.
Arguments greatest {n}.
Arguments is_zero {n}.

Declare Scope numbers_scope.
Delimit Scope numbers_scope with num.
Bind Scope numbers_scope with number.
Infix "+" := add : numbers_scope.
Infix "-" := subtract : numbers_scope.
Infix "*" := multiply : numbers_scope.
Infix "/" := divide : numbers_scope.

(** Sum of f over a list. *)
Definition sum_over (K : numbers) (I : Type) (s : seq I) (f : I -> K) : K :=
  foldr (fun i total => add (f i) total) zero s.

Definition at_most (K : numbers) (a b : K) : bool := is_zero (a - least a b)%num.
Arguments at_most : simpl never.

Fixpoint power (K : numbers) (a : K) (n : nat) : K := if n is n'.+1 then (a * power a n')%num else one.

(** (b^n - a^n)/(b - a) without a quotient: b^(n-1) + a b^(n-2) + ... + a^(n-1). *)
Fixpoint slope (K : numbers) (a b : K) (n : nat) : K :=
  if n is n'.+1 then (power b n' + a * slope a b n')%num else zero.

(** The numbers of an ordered field; a quotient by 0 is 0. *)
Definition of_field (R : realFieldType) : numbers :=
  @Numbers R 0%R 1%R +%R (fun a b => a - b)%R *%R (fun a b => a / b)%R Num.min Num.max (fun a => a == 0)%R.

(** Fractions in lowest terms. *)
Definition fractions : numbers :=
  @Numbers Q (Qmake 0 1) (Qmake 1 1) (fun a b => Qred (Qplus a b)) (fun a b => Qred (Qminus a b))
    (fun a b => Qred (Qmult a b)) (fun a b => Qred (Qdiv a b)) Qmin Qmax (fun a => Qeq_bool a (Qmake 0 1)).

Section OfField.
Variable R : realFieldType.
Local Open Scope ring_scope.

Lemma sum_overE (I : Type) (s : seq I) (f : I -> R) : @sum_over (of_field R) I s f = \sum_(i <- s) f i.
Proof. by elim: s => [|i s IH] /=; [rewrite big_nil | rewrite big_cons -IH]. Qed.

Lemma sum_over_enum (V : finType) (f : V -> R) : @sum_over (of_field R) V (enum V) f = \sum_v f v.
Proof. by rewrite sum_overE big_enum. Qed.

Lemma at_mostE (a b : R) : @at_most (of_field R) a b = (a <= b).
Proof. by rewrite /at_most /= subr_eq0 eq_sym; apply/eqP/idP => [<-|/min_idPl]; rewrite ?le_minl ?lexx ?orbT. Qed.

Lemma powerE (a : R) n : @power (of_field R) a n = a ^+ n.
Proof. by elim: n => [|n IH] //=; rewrite IH exprS. Qed.

Lemma slopeE (a b : R) n : (b - a) * @slope (of_field R) a b n = b ^+ n - a ^+ n.
Proof.
elim: n => [|n IH] /=; first by rewrite mulr0 subrr.
by rewrite mulrDr mulrCA IH powerE mulrBr mulrBl -!exprS addrA subrK.
Qed.

End OfField.
