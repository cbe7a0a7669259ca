(** Theorem 6. The cut: no lossless verifier of drafts of any distribution emits a draft more often than a set allows.

    Drafts S are drawn by any program, and any lossless verifier emits Y. Then, for every set H of tokens,
    P(Y in S) <= 1 - (P(S within H) - t(H)). *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Cut.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation chance := (@chance (of_field R) V (enum V) _).

(** The drafts together with what a verifier emits on them. *)
Definition with_drafts (drafts : program (seq V)) (verify : seq V -> program (emission V)) :
  program (seq V * emission V) := bind drafts (fun S => bind (verify S) (fun e => Ret (S, e))).

Theorem no_lossless_verifier_passes_the_cut
    (drafts : program (seq V)) (verify : seq V -> program (emission V)) (t : V -> R) (H : pred V) :
  lossless drafts verify t ->
  chance (with_drafts drafts verify) (fun Se => Se.2.1 \in Se.1)
    <= 1 - (chance drafts (fun S => all H S) - \sum_(v | H v) t v).
Proof.
move=> [vv law].
have -> : \sum_(v | H v) t v = chance (bind drafts verify) (fun e => H e.1).
  rewrite big_mkcond /program.chance (expect_by_token _ fst (fun v => if H v then 1 else 0)); apply: eq_bigr => v _.
  by rewrite law; case: (H v); rewrite ?mulr1 ?mulr0.
have vw : valid (with_drafts drafts verify) by apply: valid_bind_pair.
have -> : 1 - (chance drafts (fun S => all H S) - chance (bind drafts verify) (fun e => H e.1))
    = @expect (of_field R) V (enum V) _ (with_drafts drafts verify)
        (fun Se => 1 - (if all H Se.1 then 1 else 0) + (if H Se.2.1 then 1 else 0)).
  rewrite expect_add expect_sub expect_const // opprB addrA addrAC; congr (_ - _ + _).
    rewrite /program.chance /with_drafts expect_bind -(expect_bind_const (fun S => if all H S then 1 else 0) vv).
    by apply: expect_eq => S; rewrite expect_bind.
  by rewrite /program.chance /with_drafts !expect_bind; apply: expect_eq => S; rewrite expect_bind.
apply: expect_le => // [[S e]] /=.
case: ifP => eS; case: allP => HS; case: ifP => He; rewrite ?subrr ?subr0 ?add0r ?addr0 ?lexx ?ler01 ?ler_addl //.
- by rewrite HS in He.
all: by rewrite ?addr_ge0 ?ler01.
Qed.
End Cut.
