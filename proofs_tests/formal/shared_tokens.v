(** Theorem 13. Heterogeneous vocabularies: TLI (Timor et al., Algorithm 4) is lossless where the draft has mass on the
    shared tokens. It accepts Σ min(t, d/d(T)), where T are the shared tokens and d(T) their draft mass; that is at
    least what the union of the vocabularies accepts, Σ min(t, d) (Timor et al., Theorem 4.1).

    [V] is the union of both vocabularies; the target has no mass outside its vocabulary, and the draft none outside its
    own. TLI drafts from the draft restricted to the shared tokens, and verifies by maximal coupling. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (in_target in_draft : pred V).
Local Open Scope numbers_scope.

Definition shared (v : V) : bool := in_target v && in_draft v.
Definition shared_mass (d : V -> K) : K := sum_over tokens (fun v => if shared v then d v else zero).
Definition restricted (d : V -> K) (v : V) : K := if shared v then d v / shared_mass d else zero.

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (in_target in_draft : pred V) (t d : V -> R).
Local Open Scope ring_scope.
Hypotheses (dt : is_distribution t) (dd : is_distribution d).
Hypotheses (t_outside : forall v, ~~ in_target v -> t v = 0) (d_outside : forall v, ~~ in_draft v -> d v = 0).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation overlap := (@overlap (of_field R) V (enum V)).
Notation shared := (shared in_target in_draft).
Notation shared_mass := (@shared_mass (of_field R) V (enum V) in_target in_draft d : R).
Notation restricted := (@restricted (of_field R) V (enum V) in_target in_draft d).
Notation maximal_coupling := (@maximal_coupling (of_field R) V (enum V)).
Hypothesis some_shared : 0 < shared_mass.

Lemma shared_massE : shared_mass = \sum_v (if shared v then d v else 0).
Proof. exact: sum_over_enum. Qed.

Lemma restricted_is_distribution : is_distribution restricted.
Proof.
split=> [v|]; first by rewrite /shared_tokens.restricted /=; case: ifP => // _; rewrite divr_ge0 ?dd.1 // ltW.
rewrite -(divff (lt0r_neq0 some_shared)) {1}shared_massE mulr_suml; apply: eq_bigr => v _.
by rewrite /shared_tokens.restricted /=; case: ifP; rewrite ?mul0r.
Qed.

Theorem shared_tokens_are_lossless :
  lossless (Draw (restricted : V -> of_field R) Ret) (maximal_coupling t restricted) t.
Proof. exact: maximal_coupling_is_lossless restricted_is_distribution. Qed.

Theorem shared_tokens_accept_the_overlap :
  chance (bind (Draw (restricted : V -> of_field R) Ret) (maximal_coupling t restricted)) (fun e => e.2)
    = overlap t restricted.
Proof. exact: maximal_coupling_accepts_the_overlap restricted_is_distribution. Qed.

Theorem shared_tokens_accept_at_least_the_union : overlap t d <= overlap t restricted.
Proof.
rewrite !overlapE; apply: ler_sum => v _; rewrite /shared_tokens.restricted /= le_minr le_minl lexx /=.
have [vs|] := boolP (shared v); last first.
  rewrite negb_and => /orP[/t_outside->|/d_outside->]; first by rewrite le_minl lexx.
  by rewrite le_minl lexx orbT.
rewrite le_minl; apply/orP; right; rewrite ler_pdivl_mulr // ler_pimulr ?dd.1 //.
rewrite shared_massE -dd.2; apply: ler_sum => u _; by case: ifP => // _; apply: dd.1.
Qed.

End Theorems.
