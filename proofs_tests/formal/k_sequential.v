(** Theorem 5. K-SEQ (SpecTr, Algorithm 2 and Theorem 2) is lossless at every gamma > 0 with f(gamma) <= 0, for every
    number k of i.i.d. drafts.

    The first draft x whose test passes, with chance min(1, t(x)/(gamma d(x))), is accepted; behind k rejections the
    token is drawn from (t - min(d, t/gamma) p/beta) / (1 - p), where beta = sum min(d, t/gamma) and
    p = 1 - (1 - beta)^k; where beta = 0 it is drawn from the target. Here f(gamma) = 1 - (1 - beta)^k - gamma beta.
    A test accepts with probability p. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).
Local Open Scope numbers_scope.
Variables (t d : V -> K) (gamma : K) (k : nat).

(** The mass with which one test accepts v, and a test accepts at all. *)
Definition passed (v : V) : K := least (d v) (t v / gamma).
Definition beta : K := sum_over tokens passed.

Definition test_acceptance : K := one - power (one - beta) k.
Definition f : K := test_acceptance - gamma * beta.

Definition remainder : V -> K :=
  if is_zero beta then t
  else fun v => (t v - passed v * (test_acceptance / beta)) / (one - test_acceptance).

Fixpoint k_sequential (drafts : seq V) : program K V (emission V) :=
  if drafts is x :: xs then Flip (capped_ratio (t x) (gamma * d x)) (Ret (x, true)) (k_sequential xs)
  else Draw remainder (fun y => Ret (y, false)).

End Programs.
Arguments passed : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation draw_independent := (@draw_independent (of_field R) V).
Variables (t d : V -> R) (dt : is_distribution t) (dd : is_distribution d).
Variables (gamma : R) (gamma0 : 0 < gamma) (k : nat).
Notation passed := (@passed (of_field R) V t d gamma).
Notation beta := (@beta (of_field R) V (enum V) t d gamma : R).
Notation test_acceptance := (@test_acceptance (of_field R) V (enum V) t d gamma k : R).
Notation remainder := (@remainder (of_field R) V (enum V) t d gamma k).
Notation k_sequential := (@k_sequential (of_field R) V (enum V) t d gamma k).
Notation f := (@f (of_field R) V (enum V) t d gamma k : R).

Lemma passed_ge0 v : 0 <= passed v.
Proof. by rewrite /k_sequential.passed /= le_minr dd.1 divr_ge0 ?dt.1 // ltW. Qed.

Lemma betaE : beta = \sum_v passed v.
Proof. exact: sum_over_enum. Qed.

Lemma beta_ge0 : 0 <= beta.
Proof. by rewrite betaE sumr_ge0 // => v _; apply: passed_ge0. Qed.

Lemma beta_le1 : beta <= 1.
Proof. by rewrite betaE -dd.2; apply: ler_sum => v _; rewrite /k_sequential.passed /= le_minl lexx. Qed.

Lemma test_acceptanceE : test_acceptance = 1 - (1 - beta) ^+ k.
Proof. by rewrite -powerE. Qed.

Lemma draft_mul_test x : d x * capped_ratio (K := of_field R) (t x) (gamma * d x)%R = passed x.
Proof.
have g0 := ltW gamma0; apply: (mulfI (lt0r_neq0 gamma0)).
rewrite mulrA draft_mul_capped_ratio ?dt.1 ?mulr_ge0 ?dd.1 // /k_sequential.passed /= minr_pmulr //.
by rewrite [gamma * (t x / gamma)]mulrC divfK ?lt0r_neq0 // minC.
Qed.

Lemma one_more_test (A B c S p : R) : A + c * (S * A + p * B) = (1 + c * S) * A + c * p * B.
Proof. by rewrite mulrDr mulrDl mul1r !mulrA addrA. Qed.

Lemma expect_tests (rest : V -> R) n (e : emission V -> R) :
  let ends drafts := foldr (fun x m => Flip (capped_ratio (K := of_field R) (t x) (gamma * d x)%R) (Ret (x, true)) m)
    (Draw (rest : V -> of_field R) (fun y => Ret (y, false))) drafts in
  expect (bind (draw_independent d n) ends) e
    = (\sum_(j < n) (1 - beta) ^+ j) * (\sum_x passed x * e (x, true))
      + (1 - beta) ^+ n * (\sum_y rest y * e (y, false)).
Proof.
move=> ends; elim: n => [|n IH]; first by rewrite big_ord0 mul0r add0r mul1r /= sum_over_enum.
pose tests x : R := capped_ratio (K := of_field R) (t x) (gamma * d x)%R.
have draws_valid := draw_independent_valid n dd.
transitivity (\sum_x d x * (tests x * e (x, true) + (1 - tests x) * expect (bind (draw_independent d n) ends) e)).
  rewrite /= sum_over_enum; apply: eq_bigr => x _; congr (_ * _); rewrite !expect_bind.
  transitivity (expect (draw_independent d n) (fun xs => tests x * e (x, true) + (1 - tests x) * expect (ends xs) e)).
    exact: expect_eq.
  by rewrite expect_add (expect_const _ draws_valid); congr (_ + _); apply: expect_scale.
under eq_bigr => x _ do rewrite mulrDr !mulrA mulrBr mulr1 draft_mul_test.
rewrite big_split /= -mulr_suml sumrB dd.2 -betaE IH big_ord_recl expr0.
under [X in _ = (_ + X) * _ + _]eq_bigr do rewrite exprS.
rewrite -mulr_sumr exprS; exact: one_more_test.
Qed.

Lemma geometric_sum : (\sum_(j < k) (1 - beta) ^+ j) * beta = test_acceptance.
Proof.
rewrite test_acceptanceE mulrC -[X in _ = X - _](expr1n _ k) subrXX.
have -> : 1 - (1 - beta) = beta by rewrite opprB addrC subrK.
by congr (_ * _); apply: eq_bigr => i _; rewrite expr1n mul1r.
Qed.

Lemma k_sequential_foldr drafts : k_sequential drafts
  = foldr (fun x m => Flip (capped_ratio (K := of_field R) (t x) (gamma * d x)%R) (Ret (x, true)) m)
      (Draw remainder (fun y => Ret (y, false))) drafts.
Proof. by elim: drafts => //= x xs ->. Qed.

Notation repeats := (\sum_(j < k) (1 - beta) ^+ j).

Lemma left_over : 1 - test_acceptance = (1 - beta) ^+ k.
Proof. by rewrite test_acceptanceE opprB addrC subrK. Qed.

Lemma passed_of_beta0 : beta = 0 -> forall v, passed v = 0.
Proof. by rewrite betaE => b0 v; have := psumr_eq0P (fun w _ => passed_ge0 w) b0; apply. Qed.

Hypothesis valid_gamma : f <= 0.

Lemma repeats_passed_le v : repeats * passed v <= t v.
Proof.
have [b0|b0] := eqVneq beta 0; first by rewrite passed_of_beta0 // mulr0 dt.1.
have bp : 0 < beta by rewrite lt_neqAle eq_sym b0 beta_ge0.
have ag : repeats <= gamma.
  by rewrite -(ler_pmul2r bp) geometric_sum -subr_le0.
apply: le_trans (_ : gamma * passed v <= _); first by rewrite ler_wpmul2r ?passed_ge0.
by rewrite -ler_pdivl_mull // mulrC /k_sequential.passed /= le_minl lexx orbT.
Qed.

Lemma what_is_left v : (1 - beta) ^+ k * remainder v = t v - repeats * passed v.
Proof.
rewrite /k_sequential.remainder /= -/beta; have [b0|b0] := eqVneq beta 0.
  by rewrite b0 subr0 expr1n mul1r passed_of_beta0 // mulr0 subr0.
rewrite -left_over; have -> : test_acceptance / beta = repeats by rewrite -geometric_sum mulfK.
have [p1|p1] := eqVneq (1 - test_acceptance) 0; last by rewrite mulrC divfK // [passed v * _]mulrC.
rewrite p1 mul0r; apply/esym; move: v.
have total : \sum_v (t v - repeats * passed v) = 0.
  by rewrite sumrB -mulr_sumr -betaE geometric_sum dt.2.
by move=> v; apply: (psumr_eq0P _ total) => // w _; rewrite subr_ge0 repeats_passed_le.
Qed.

Lemma remainder_is_distribution : 0 < (1 - beta) ^+ k -> is_distribution remainder.
Proof.
move=> bk; split=> [v|]; first by rewrite -(pmulr_rge0 _ bk) what_is_left subr_ge0 repeats_passed_le.
apply: (mulfI (lt0r_neq0 bk)); rewrite mulr_sumr mulr1 -left_over; under eq_bigr do rewrite left_over what_is_left.
by rewrite sumrB -mulr_sumr -betaE geometric_sum dt.2.
Qed.

(** Where beta is 1, a draft that can be drawn always passes its test. *)
Lemma test_is_sure x : beta = 1 -> 0 < d x -> capped_ratio (K := of_field R) (t x) (gamma * d x)%R = 1 :> R.
Proof.
move=> b1 dx; apply: (mulfI (lt0r_neq0 dx)); rewrite draft_mul_test mulr1; apply/eqP; rewrite eq_sym -subr_eq0.
have total : \sum_v (d v - passed v) = 0 by rewrite sumrB -betaE b1 dd.2 subrr.
by apply/eqP; apply: (psumr_eq0P _ total) => // w _; rewrite subr_ge0 /k_sequential.passed /= le_minl lexx.
Qed.

Lemma k_sequential_valid drafts : size drafts = k -> all (fun x => 0 < d x) drafts -> valid (k_sequential drafts).
Proof.
have test01 x : 0 <= (capped_ratio (K := of_field R) (t x) (gamma * d x)%R : R) <= 1.
  by apply: capped_ratio_in01; rewrite ?dt.1 ?mulr_ge0 ?dd.1 ?ltW.
move: beta_le1; rewrite le_eqVlt => /predU1P[b1|b1].
  case: drafts => [|x xs] /= sk.
    by move=> _; split=> //; apply: remainder_is_distribution; rewrite -sk expr0 ltr01.
  move=> /andP[dx _]; split; first exact: test01.
  split=> // p1; exfalso; have : (1 : R) < 1 by rewrite -[X in X < _](test_is_sure b1 dx).
  by rewrite ltxx.
move=> _ _; elim: drafts => [|x xs IH] /=; last by split; [exact: test01|split].
by split=> //; apply: remainder_is_distribution; rewrite exprn_gt0 // subr_gt0.
Qed.

Theorem k_sequential_accepts_by_tests :
  chance (bind (draw_independent d k) k_sequential) (fun e => e.2) = test_acceptance.
Proof.
rewrite /program.chance expect_bind (expect_eq _ (fun xs => congr1 (fun m => expect m _) (k_sequential_foldr xs))).
rewrite -expect_bind expect_tests /= [X in _ + _ * X]big1 ?mulr0 ?addr0 => [|y _]; last exact: mulr0.
by under [X in _ * X]eq_bigr do rewrite mulr1; rewrite -betaE geometric_sum.
Qed.

Theorem k_sequential_is_lossless : lossless (draw_independent d k) k_sequential t.
Proof.
split=> [|v].
  by apply: valid_after_draws => // drafts; apply: k_sequential_valid.
rewrite /program.chance expect_bind (expect_eq _ (fun xs => congr1 (fun m => expect m _) (k_sequential_foldr xs))).
rewrite -expect_bind expect_tests /= !sum_indicator what_is_left.
by rewrite addrC subrK.
Qed.

End Theorems.
