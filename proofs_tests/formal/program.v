(** Programs against a coin, and the distribution of what they return.

    A verifier is a program that flips coins ([Flip p]) and draws tokens ([Draw m]), and returns a value ([Ret]).
    [expect tokens m f] is the expectation of [f] under the program [m], by recursion over the program; [tokens] lists
    the vocabulary. [law tokens m a] is the probability that [m] returns [a]. Rocq computes both in fractions; the
    lemmas are about an ordered field [R] (rationals and reals are examples) and any finite vocabulary [V]. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** The programs that return a value in [A]: their only randomness is a coin. *)
Inductive program (K : numbers) (V A : Type) : Type :=
| Ret of A
| Flip of K & program K V A & program K V A
| Draw of (V -> K) & (V -> program K V A).
Arguments Ret {K V A}.
Arguments Flip {K V A}.
Arguments Draw {K V A}.

Section Programs.
Variables (K : numbers) (V : Type) (tokens : seq V).
Local Open Scope numbers_scope.

(** The expectation of [f] of the value that a program returns. *)
Fixpoint expect (A : Type) (m : program K V A) (f : A -> K) : K :=
  match m with
  | Ret a => f a
  | Flip p yes no => p * expect yes f + (one - p) * expect no f
  | Draw masses next => sum_over tokens (fun v => masses v * expect (next v) f)
  end.

(** Run [m], then the program that [k] makes of its value. *)
Fixpoint bind (A B : Type) (m : program K V A) (k : A -> program K V B) : program K V B :=
  match m with
  | Ret a => k a
  | Flip p yes no => Flip p (bind yes k) (bind no k)
  | Draw masses next => Draw masses (fun v => bind (next v) k)
  end.

(** The probability of an event, and that a program returns [a]. *)
Definition chance (A : Type) (m : program K V A) (event : pred A) := expect m (fun a => if event a then one else zero).
Definition law (A : eqType) (m : program K V A) (a : A) : K := chance m (pred1 a).

End Programs.

Section Lemmas.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).

(** Masses on a finite vocabulary that are at least 0 and sum to 1. *)
Definition is_distribution (m : V -> R) : Prop := (forall v, 0 <= m v) /\ \sum_v m v = 1.

(** Each chance of a flip lies in [0, 1], and each draw is from a distribution, on every path of positive mass. *)
Fixpoint valid (A : Type) (m : program A) : Prop :=
  match m with
  | Ret _ => True
  | Flip p yes no => 0 <= (p : R) <= 1 /\ (0 < (p : R) -> valid yes) /\ ((p : R) < 1 -> valid no)
  | Draw masses next => is_distribution masses /\ forall v, 0 < (masses v : R) -> valid (next v)
  end.

Lemma expect_flip (A : Type) (p : R) (yes no : program A) (f : A -> R) :
  expect (Flip (p : of_field R) yes no) f = p * expect yes f + (1 - p) * expect no f.
Proof. by []. Qed.

Lemma expect_draw (A : Type) (m : V -> R) (next : V -> program A) (f : A -> R) :
  expect (Draw (m : V -> of_field R) next) f = \sum_v m v * expect (next v) f.
Proof. exact: sum_over_enum. Qed.

Lemma bind_ret_left (A B : Type) (a : A) (k : A -> program B) : bind (Ret a) k = k a.
Proof. by []. Qed.

Lemma expect_bind (A B : Type) (m : program A) (k : A -> program B) (f : B -> R) :
  expect (bind m k) f = expect m (fun a => expect (k a) f).
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=; first by rewrite IHyes IHno.
by rewrite !sum_over_enum; apply: eq_bigr => v _; rewrite IH.
Qed.

Section Expectation.
Variables A B C : Type.
Implicit Types (m : program A) (f g : A -> R).
Lemma expect_eq m f g : f =1 g -> expect m f = expect m g.
Proof.
move=> fg; elim: m => [a|p yes IHyes no IHno|masses next IH] //=; first by rewrite IHyes IHno.
by rewrite !sum_over_enum; apply: eq_bigr => v _; rewrite IH.
Qed.

(** The monad laws, as equalities of distributions. *)
Lemma bind_ret_right m f : expect (bind m (fun a => Ret a)) f = expect m f.
Proof. by rewrite expect_bind. Qed.

Lemma bind_assoc m (k : A -> program B) (h : B -> program C) (f : C -> R) :
  expect (bind (bind m k) h) f = expect (bind m (fun a => bind (k a) h)) f.
Proof. by rewrite !expect_bind; apply: expect_eq => a; rewrite expect_bind. Qed.

Lemma expect_add m f g : expect m (fun a => f a + g a) = expect m f + expect m g.
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by rewrite IHyes IHno !mulrDr addrACA.
by rewrite !sum_over_enum -big_split; apply: eq_bigr => v _; rewrite IH mulrDr.
Qed.

Lemma expect_scale m f c : expect m (fun a => c * f a) = c * expect m f.
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by rewrite IHyes IHno mulrDr !(mulrCA c).
by rewrite !sum_over_enum mulr_sumr; apply: eq_bigr => v _; rewrite IH mulrCA.
Qed.

Lemma expect_sub m f g : expect m (fun a => f a - g a) = expect m f - expect m g.
Proof.
rewrite expect_add; congr (_ + _).
by rewrite -[RHS]mulN1r -expect_scale; apply: expect_eq => a; rewrite mulN1r.
Qed.

Lemma expect_sum (I : finType) m (f : I -> A -> R) :
  expect m (fun a => \sum_i f i a) = \sum_i expect m (f i).
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by rewrite IHyes IHno !mulr_sumr -big_split.
rewrite sum_over_enum; under [RHS]eq_bigr do rewrite sum_over_enum.
by rewrite exchange_big /=; apply: eq_bigr => v _; rewrite IH mulr_sumr.
Qed.

(** An expectation of a function of a token is a sum over the chances of the token. *)
Lemma expect_by_token m (token : A -> V) (g : V -> R) :
  expect m (fun a => g (token a)) = \sum_v chance (enum V) m (fun a => token a == v) * g v.
Proof.
under eq_bigr => v _ do rewrite mulrC /chance -expect_scale.
rewrite -expect_sum; apply: expect_eq => a; rewrite (bigD1 (token a)) //= eqxx mulr1 big1 ?addr0 // => v.
by rewrite eq_sym => /negPf->; rewrite mulr0.
Qed.

Lemma expect_const m c : valid m -> expect m (fun _ => c) = c.
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  move=> [/andP[p0 p1] [vyes vno]].
  have -> : p * expect yes (fun=> c) = p * c.
    by move: p0; rewrite le_eqVlt => /predU1P[<-|/vyes/IHyes->//]; rewrite !mul0r.
  have -> : (1 - p) * expect no (fun=> c) = (1 - p) * c.
    by move: p1; rewrite le_eqVlt => /predU1P[->|/vno/IHno->//]; rewrite subrr !mul0r.
  by rewrite -mulrDl addrC subrK mul1r.
rewrite sum_over_enum => [[[m0 m1] vnext]]; rewrite -[RHS]mul1r -m1 mulr_suml; apply: eq_bigr => v _.
move: (m0 v); rewrite le_eqVlt => /predU1P[<-|/vnext/IH->//]; by rewrite !mul0r.
Qed.

Lemma expect_le m f g : valid m -> (forall a, f a <= g a) -> expect m f <= expect m g.
Proof.
move=> + fg; elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  move=> [/andP[p0 p1] [vyes vno]]; apply: ler_add.
    by move: p0; rewrite le_eqVlt => /predU1P[<-|pp]; [rewrite !mul0r | rewrite ler_pmul2l //; apply/IHyes/vyes].
  move: p1; rewrite le_eqVlt => /predU1P[->|pp]; first by rewrite subrr !mul0r.
  by rewrite ler_pmul2l ?subr_gt0 //; apply/IHno/vno.
rewrite !sum_over_enum => [[[m0 m1] vnext]]; apply: ler_sum => v _.
move: (m0 v); rewrite le_eqVlt => /predU1P[<-|mv]; first by rewrite !mul0r.
by rewrite ler_pmul2l //; apply/IH/vnext.
Qed.

Lemma valid_bind m (k : A -> program B) : valid m -> (forall a, valid (k a)) -> valid (bind m k).
Proof.
move=> + vk; elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by move=> [pp [vyes vno]]; split=> //; split=> [/vyes /IHyes|/vno /IHno].
by move=> [dm vnext]; split=> // v /vnext /IH.
Qed.

End Expectation.

Lemma valid_bind_left (A B : Type) (m : program A) (k : A -> program B) : valid (bind m k) -> valid m.
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by move=> [pp [vyes vno]]; split=> //; split=> [/vyes /IHyes|/vno /IHno].
by move=> [dm vnext]; split=> // v /vnext /IH.
Qed.

Lemma valid_bind_assoc (A B C : Type) (m : program A) (k : A -> program B) (h : B -> program C) :
  valid (bind m (fun a => bind (k a) h)) -> valid (bind (bind m k) h).
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] //=.
  by move=> [pp [vyes vno]]; split=> //; split=> [/vyes /IHyes|/vno /IHno].
by move=> [dm vnext]; split=> // v /vnext /IH.
Qed.

Lemma valid_bind_imply (A B C : Type) (m : program A) (k : A -> program B) (h : A -> program C) :
  (forall a, valid (k a) -> valid (h a)) -> valid (bind m k) -> valid (bind m h).
Proof.
move=> kh; elim: m => [a|p yes IHyes no IHno|masses next IH] /=; first exact: kh.
  by move=> [pp [vyes vno]]; split=> //; split=> [/vyes /IHyes|/vno /IHno].
by move=> [dm vnext]; split=> // v /vnext /IH.
Qed.

(** What runs after [m] may keep the value of [m] beside its own. *)
Lemma valid_bind_pair (A B C : Type) (m : program A) (k : A -> program B) (f : A -> B -> C) :
  valid (bind m k) -> valid (bind m (fun a => bind (k a) (fun b => Ret (f a b)))).
Proof. by apply: valid_bind_imply => a vk; apply: valid_bind. Qed.

(** A function of the first value alone is not changed by what runs after it. *)
Lemma expect_bind_const (A B : Type) (m : program A) (k : A -> program B) (g : A -> R) :
  valid (bind m k) -> expect m (fun a => expect (k a) (fun=> g a)) = expect m g.
Proof.
elim: m => [a|p yes IHyes no IHno|masses next IH] /=; first exact: expect_const.
  move=> [/andP[p0 p1] [vyes vno]]; congr (_ + _).
    by move: p0; rewrite le_eqVlt => /predU1P[<-|/vyes/IHyes->//]; rewrite !mul0r.
  by move: p1; rewrite le_eqVlt => /predU1P[->|/vno/IHno->//]; rewrite subrr !mul0r.
rewrite !sum_over_enum => [[[m0 _] vnext]]; apply: eq_bigr => v _.
by move: (m0 v); rewrite le_eqVlt => /predU1P[<-|/vnext/IH->//]; rewrite !mul0r.
Qed.

End Lemmas.
