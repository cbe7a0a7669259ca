(** Theorem 7. The optimal plan of k i.i.d. drafts is lossless and reaches the cut of Theorem 6, for all distributions
    on every finite vocabulary and for every k >= 1.

    Let D be the largest d(H)^k - t(H) over the sets H of drafted tokens of ratio t/d up to that of some token, or 0.
    The law c = d clip(t/d, lower, upper) sums to 1, and exceeds the target by D in all where it exceeds it. The plan
    puts one draft x forward, by a mixture of nested pools, with the law c. It accepts x with probability
    min(1, t(x)/c(x)), and otherwise draws from the residual of t and c. Then:
    - the emitted token has the law t;
    - it is among the drafts with probability 1 - max (d(H)^k - t(H)), over ALL sets H of tokens, and the test accepts
      with the same probability;
    - this maximum is D, so sets up to a ratio suffice;
    - no lossless verifier emits a draft more often. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive cut plan_pools plan_mixture plan_selection.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (t d : V -> K) (k : nat).

Definition put_forward (drafts : seq V) : program K V V :=
  mixture tokens d k (size tokens * size tokens) (clipped tokens t d k) drafts.

Definition plan (drafts : seq V) : program K V (emission V) :=
  bind (put_forward drafts) (maximal_coupling tokens t (selection tokens t d k)).

End Programs.
Arguments put_forward : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation law := (@law (of_field R) V (enum V) _).
Notation draw_independent := (@draw_independent (of_field R) V).
Variables (t d : V -> R) (dt : is_distribution t) (dd : is_distribution d) (k : nat) (k0 : (0 < k)%N).
Notation deficit := (@deficit (of_field R) V (enum V) t d k : R).
Notation selection := (@selection (of_field R) V (enum V) t d k : V -> R).
Notation put_forward := (@put_forward (of_field R) V (enum V) t d k).
Notation plan := (@plan (of_field R) V (enum V) t d k).
Notation coupling := (@maximal_coupling (of_field R) V (enum V) t selection).

Theorem selection_is_the_law_put_forward y : law (bind (draw_independent d k) put_forward) y = selection y.
Proof.
apply: mixture_law => //; first exact: clipped_feasible.
by rewrite /unequal (leq_trans (max_card _)) // card_prod -cardE.
Qed.

Lemma coupling_valid x : valid (coupling x).
Proof. exact: maximal_coupling_valid dt (selection_is_distribution dt dd k0). Qed.

Lemma plan_valid S : valid (plan S).
Proof. by apply: valid_bind; [exact: mixture_valid | exact: coupling_valid]. Qed.

(** The plan has the law of the maximal coupling of the selection and the target. *)
Lemma expect_plan (f : emission V -> R) :
  expect (bind (draw_independent d k) plan) f = expect (bind (Draw (selection : V -> of_field R) Ret) coupling) f.
Proof.
rewrite [RHS]expect_draw; under eq_bigr do rewrite -selection_is_the_law_put_forward.
rewrite -(expect_by_token _ id (fun x => expect (coupling x) f)) (expect_bind (draw_independent d k) put_forward).
by rewrite (expect_bind (draw_independent d k) plan); apply: expect_eq => S; rewrite expect_bind.
Qed.

Theorem plan_is_lossless : lossless (draw_independent d k) plan t.
Proof.
split=> [|v]; first by apply: valid_bind; [exact: draw_independent_valid | exact: plan_valid].
rewrite /program.chance expect_plan.
exact: (maximal_coupling_is_lossless dt (selection_is_distribution dt dd k0)).2.
Qed.

Lemma plan_accepts_the_overlap :
  chance (bind (draw_independent d k) plan) (fun e => e.2) = overlap (K := of_field R) (enum V) t selection.
Proof.
rewrite /program.chance expect_plan.
exact: maximal_coupling_accepts_the_overlap dt (selection_is_distribution dt dd k0).
Qed.

(** An accepted token is a draft. *)
Lemma accepted_is_drafted : chance (bind (draw_independent d k) plan) (fun e => e.2)
  <= chance (with_drafts (draw_independent d k) plan) (fun Se => Se.2.1 \in Se.1).
Proof.
rewrite /program.chance /with_drafts !expect_bind; apply: expect_le_nonempty => // S S0.
rewrite [X in _ <= X]expect_bind /plan.plan !expect_bind; apply: mixture_of_drafts => // x xS.
rewrite !expect_flip /= xS; apply: ler_add => //; apply: ler_wpmul2l.
  rewrite subr_ge0; have [/andP[_ p1] _] := coupling_valid x; exact: p1.
rewrite !sum_over_enum; apply: ler_sum => y _; apply: ler_wpmul2l; first exact: (residual_is_distribution _ dt).1.
by case: (y \in S); [exact: ler01 | exact: lexx].
Qed.

(** By how much k i.i.d. drafts fall into a set too often for the target. *)
Definition too_often (H : {set V}) : R := (\sum_(v in H) d v) ^+ k - \sum_(v in H) t v.

(** The largest of them, over all sets; it is 0 for the empty set. *)
Definition cut_deficit : R := \big[Num.max/0]_(H : {set V}) too_often H.

Lemma cut_deficit_ge H : too_often H <= cut_deficit.
Proof. by rewrite /cut_deficit -greatest_ofE; apply: greatest_of_ge; apply: mem_index_enum. Qed.

Lemma cut_deficit_attained : exists H, cut_deficit = too_often H.
Proof.
rewrite /cut_deficit -greatest_ofE.
case: (greatest_of_attained (index_enum _) too_often 0) => [->|//].
by exists set0; rewrite /too_often !big_set0 expr0n eqn0Ngt k0 subrr.
Qed.

Theorem no_lossless_verifier_emits_a_draft_more_often (verify : seq V -> program (of_field R) V (emission V)) :
  lossless (draw_independent d k) verify t ->
  chance (with_drafts (draw_independent d k) verify) (fun Se => Se.2.1 \in Se.1) <= 1 - cut_deficit.
Proof.
move=> ll; have [H ->] := cut_deficit_attained; rewrite /too_often -chance_of_drafts_within //.
exact: (no_lossless_verifier_passes_the_cut (mem H) ll).
Qed.

Lemma plan_accepts_at_least : 1 - deficit <= chance (bind (draw_independent d k) plan) (fun e => e.2).
Proof. by rewrite plan_accepts_the_overlap overlap_of_selection. Qed.

Theorem sets_up_to_a_ratio_suffice : deficit = cut_deficit.
Proof.
apply: le_anti; apply/andP; split; first by have [H ->] := deficit_of_a_set t d k0; apply: cut_deficit_ge.
rewrite -[deficit](subKr 1) ler_subr_addl -ler_subr_addr.
apply: le_trans plan_accepts_at_least (le_trans accepted_is_drafted _).
exact: no_lossless_verifier_emits_a_draft_more_often plan_is_lossless.
Qed.

Theorem plan_reaches_the_cut :
  chance (with_drafts (draw_independent d k) plan) (fun Se => Se.2.1 \in Se.1) = 1 - cut_deficit.
Proof.
apply: le_anti; apply/andP; split; first exact: no_lossless_verifier_emits_a_draft_more_often plan_is_lossless.
by rewrite -sets_up_to_a_ratio_suffice (le_trans plan_accepts_at_least accepted_is_drafted).
Qed.

Theorem plan_accepts_with_the_optimum :
  chance (bind (draw_independent d k) plan) (fun e => e.2) = 1 - cut_deficit.
Proof.
apply: le_anti; apply/andP; split; first by rewrite -plan_reaches_the_cut accepted_is_drafted.
by rewrite -sets_up_to_a_ratio_suffice plan_accepts_at_least.
Qed.

End Theorems.
