(** Theorem 14. A unit of bias buys at most a unit of acceptance, and it buys that much.

    A verifier of any drafts, whose token is within total variation e of the target, and which emits a draft with
    probability a, gives a lossless verifier that emits one with at least a - e. And from each lossless verifier of at
    least one draft that emits a draft with probability a there is one, within e of the target, with min(1, a + e). *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position cut.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).

(** The verifier, and then maximal coupling of its token, whose distribution is q, with the target. *)
Definition corrected (t q : V -> K) (verify : seq V -> program K V (emission V)) (S : seq V) : program K V _ :=
  bind (verify S) (fun e => maximal_coupling tokens t q e.1).

(** The verifier, but where its token is no draft, the first draft is emitted with chance p. *)
Definition biased (p : K) (verify : seq V -> program K V (emission V)) (S : seq V) : program K V (emission V) :=
  bind (verify S) (fun e => if e.1 \in S then Ret e else
    Flip p (Ret (head e.1 S, true)) (Ret e)).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation excess_mass := (@excess_mass (of_field R) V (enum V)).
Notation corrected := (@corrected (of_field R) V (enum V)).
Notation biased := (@biased (of_field R) V).
Implicit Types (drafts : program (seq V)) (verify : seq V -> program (emission V)) (t q : V -> R).

(** The probability that the emitted token is a draft. *)
Definition acceptance drafts verify : R := chance (with_drafts drafts verify) (fun Se => Se.2.1 \in Se.1).

(** The distribution of the emitted token. *)
Definition emitted drafts verify (v : V) : R := chance (bind drafts verify) (fun e => e.1 == v).

(** Total variation: the mass that the target has above the emitted distribution. *)
Definition total_variation t q : R := excess_mass t q.

Variables (drafts : program (seq V)) (verify : seq V -> program (emission V)) (t : V -> R).
Hypotheses (dt : is_distribution t) (valid_program : valid (bind drafts verify)).
Notation q := (emitted drafts verify).

Lemma emitted_is_distribution : is_distribution q.
Proof.
split=> [v|].
  have <- := expect_const (0 : R) valid_program; apply: expect_le => // e; case: eqP => _; [exact: ler01|exact: lexx].
rewrite -(expect_const 1 valid_program) (expect_by_token _ fst (fun=> 1)); apply: eq_bigr => v _; by rewrite mulr1.
Qed.

Lemma expect_corrected (f : emission V -> R) :
  expect (bind drafts (corrected t q verify)) f
    = expect (bind (Draw (q : V -> of_field R) Ret) (maximal_coupling (K := of_field R) (enum V) t q)) f.
Proof.
rewrite [RHS]expect_draw -(expect_by_token (bind drafts verify) fst) !expect_bind; apply: expect_eq => S.
by rewrite expect_bind.
Qed.

Theorem a_biased_verifier_gives_a_lossless_one :
  lossless drafts (corrected t q verify) t
  /\ acceptance drafts verify - total_variation t q <= acceptance drafts (corrected t q verify).
Proof.
have dq := emitted_is_distribution; split.
  split=> [|v].
    apply: valid_bind_imply valid_program => S vS; apply: valid_bind => // e; exact: maximal_coupling_valid.
  by rewrite /program.chance expect_corrected; apply: (maximal_coupling_is_lossless dt dq).2.
have -> : total_variation t q = expect (bind drafts verify)
    (fun e => 1 - capped_ratio (K := of_field R) (t e.1) (q e.1)).
  rewrite (expect_by_token _ fst (fun y => 1 - capped_ratio (K := of_field R) (t y) (q y))).
  under eq_bigr => y _ do rewrite mulrBr mulr1 draft_mul_capped_ratio ?dt.1 ?dq.1 //.
  by rewrite sumrB -overlapE [X in X - _]dq.2 -dt.2 -(overlap_add_excess t q) addrC addKr.
have in_pairs (f : _ -> R) : expect (bind drafts verify) f = expect (with_drafts drafts verify) (fun Se => f Se.2).
  by rewrite !expect_bind; apply: expect_eq => S; rewrite expect_bind.
rewrite in_pairs /acceptance /program.chance -expect_sub.
have vw : valid (with_drafts drafts verify) by apply: valid_bind_pair.
have -> : expect (with_drafts drafts (corrected t q verify)) (fun Se => if Se.2.1 \in Se.1 then one else zero)
    = expect (with_drafts drafts verify) (fun Se => expect (maximal_coupling (K := of_field R) (enum V) t q Se.2.1)
        (fun e => if e.1 \in Se.1 then 1 else 0)).
  rewrite !expect_bind; apply: expect_eq => S; rewrite !expect_bind; apply: expect_eq => e /=.
  by rewrite sum_over_enum.
apply: expect_le => // [[S e]]; rewrite expect_flip.
have /andP[c0 c1] : 0 <= (capped_ratio (K := of_field R) (t e.1) (q e.1) : R) <= 1.
  by apply: capped_ratio_in01; [apply: dt.1|apply: dq.1].
set c : R := capped_ratio (K := of_field R) _ _ in c0 c1 *; set later := expect (Draw _ _) _.
have l0 : 0 <= later.
  rewrite /later expect_draw; apply: sumr_ge0 => y _; rewrite mulr_ge0 ?(residual_is_distribution _ dt).1 //=.
  by case: (y \in S); [exact: ler01|exact: lexx].
have rest : 0 <= (1 - c) * later by rewrite mulr_ge0 // subr_ge0.
rewrite /=; case: (e.1 \in S); first by rewrite subKr mulr1 ler_addl.
by rewrite mulr0 !add0r (le_trans _ rest) // oppr_le0 subr_ge0.
Qed.

Hypotheses (is_lossless : lossless drafts verify t) (some_draft : chance drafts (@nilp V) = 0).
Notation a := (acceptance drafts verify).

(** The chance of emitting a draft instead that spends e, or brings the acceptance to 1. *)
Definition spent (e : R) : R := Num.min e (1 - a) / (1 - a).

Let vw : valid (with_drafts drafts verify) := valid_bind_pair _ valid_program.

Lemma acceptance_in01 : 0 <= a <= 1.
Proof.
by apply/andP; split; [rewrite -(expect_const (0 : R) vw) | rewrite -(expect_const (1 : R) vw)];
  apply: expect_le => // Se /=; case: (_ \in _); rewrite /= ?lexx ?ler01.
Qed.

Lemma spent_mul (e : R) : 0 <= e -> spent e * (1 - a) = Num.min e (1 - a).
Proof.
move=> e0; have /andP[_ a1] := acceptance_in01; have [a0|a0] := eqVneq (1 - a) 0; last by rewrite divfK.
by rewrite a0 mulr0 min_r.
Qed.

Lemma spent_in01 (e : R) : 0 <= e -> 0 <= spent e <= 1.
Proof.
move=> e0; rewrite /spent; have /andP[_ a1] := acceptance_in01; have : 0 <= 1 - a by rewrite subr_ge0.
rewrite le_eqVlt => /predU1P[<-|a0]; first by rewrite invr0 mulr0 lexx ler01.
apply/andP; split; first by apply: divr_ge0; rewrite ?le_minr ?e0 /= ltW.
by rewrite ler_pdivr_mulr // mul1r le_minl lexx orbT.
Qed.

(** A function of the drafts and the token, of the biased verifier. *)
Lemma expect_biased (p : R) (f : seq V -> V -> R) :
  expect (with_drafts drafts (biased (p : of_field R) verify)) (fun Se => f Se.1 Se.2.1)
    = expect (with_drafts drafts verify) (fun Se => if Se.2.1 \in Se.1 then f Se.1 Se.2.1
        else p * f Se.1 (head Se.2.1 Se.1) + (1 - p) * f Se.1 Se.2.1).
Proof.
rewrite !expect_bind; apply: expect_eq => S; rewrite !expect_bind; apply: expect_eq => e.
by rewrite /=; case: (e.1 \in S).
Qed.

Theorem a_unit_of_bias_buys_a_unit_of_acceptance (e : R) : 0 <= e ->
  let verifier := biased (spent e : of_field R) verify in
  valid (bind drafts verifier) /\ total_variation t (emitted drafts verifier) <= e
  /\ acceptance drafts verifier = Num.min 1 (a + e).
Proof.
move=> e0 verifier; have /andP[a0 a1] := acceptance_in01; have /andP[p0 p1] := spent_in01 e0.
split; first by apply: valid_bind_imply valid_program => S vS; apply: valid_bind => // x;
  case: ifP => _ //=; split; [exact: spent_in01|split].
have p0' := spent_mul e0.
have empty : expect (with_drafts drafts verify) (fun Se => if nilp Se.1 then 1 else 0) = 0.
  rewrite -[RHS]some_draft /program.chance -(expect_bind_const (fun S => if nilp S then 1 else 0) valid_program).
  by rewrite expect_bind; apply: expect_eq => S; rewrite expect_bind.
have refused : expect (with_drafts drafts verify) (fun Se => if Se.2.1 \in Se.1 then 0 else 1) = 1 - a.
  rewrite -[X in _ = X - _](expect_const (1 : R) vw) /acceptance /program.chance -expect_sub.
  by apply: expect_eq => [[S x]] /=; case: ifP; rewrite ?subrr ?subr0.
split.
  pose r v := expect (with_drafts drafts verify) (fun x => if x.2.1 \in x.1 then 0 else if x.2.1 == v then 1 else 0).
  have r0 v : 0 <= r v.
    have <- := expect_const (0 : R) vw; apply: expect_le => // [[S x]] /=.
    by case: ifP => _ //; case: ifP => _; rewrite ?ler01.
  have total : \sum_v r v = 1 - a.
    rewrite -refused /r -expect_sum; apply: expect_eq => [[S x]] /=; case: ifP => _; first by rewrite big1.
    by rewrite (bigD1 x.1) //= eqxx big1 ?addr0 // => y; rewrite eq_sym => /negPf->.
  apply: le_trans (_ : spent e * (1 - a) <= _); last by rewrite p0' le_minl lexx.
  rewrite /total_variation excess_massE -total mulr_sumr; apply: ler_sum => v _.
  rewrite le_maxl mulr_ge0 // andbT -(is_lossless.2 v) ler_subl_addr /emitted /r.
  have in_pairs w : chance (bind drafts w) (fun x => x.1 == v)
      = expect (with_drafts drafts w) (fun Se => if Se.2.1 == v then 1 else 0).
    by rewrite /program.chance !expect_bind; apply: expect_eq => S; rewrite expect_bind.
  rewrite !in_pairs (expect_biased _ (fun _ x => if x == v then 1 else 0)) -expect_scale -expect_add.
  apply: expect_le => // [[S x]] /=; case: (x.1 \in S); first by rewrite mulr0 add0r.
  rewrite [X in _ <= _ + X]addrC addrA -mulrDl addrC.
  have -> : spent e + (1 - spent e) = 1 by rewrite addrC subrK.
  by rewrite mul1r ler_addr mulr_ge0 //; case: ifP => _; rewrite ?ler01.
have -> : Num.min 1 (a + e) = a + Num.min e (1 - a) by rewrite addr_minr minC [a + (1 - a)]addrC subrK.
rewrite -p0' -refused -[RHS]addr0 -[X in _ = _ + X](mulr0 (- spent e)) -[X in _ = _ + _ * X]empty -!expect_scale.
rewrite /acceptance /program.chance (expect_biased _ (fun S x => if x \in S then 1 else 0)) -!expect_add.
apply: expect_eq => [[S x]] /=; case: S => [|y S] /=.
  by rewrite !mulr0 !mulr1 !add0r subrr.
case: (x.1 \in y :: S); first by rewrite !mulr0 !addr0.
by rewrite inE eqxx /= !mulr0 !mulr1 !addr0 add0r.
Qed.

End Theorems.
