(** Theorem 8. A chain of drafts, verified token by token, is lossless for any lookahead and any number of rounds.

    The models are functions of the prefix. The drafts are drawn first, one after another, and verified then (Timor et
    al., Algorithm 5; SpecTr, Algorithm 1 along a path): each draft x is kept with chance min(1, t(x)/d(x)); the first
    rejection ends the block with a token from the residual; behind the last draft the target gives a bonus token. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target draft : seq V -> V -> K).

(** Draw a chain of drafts, each after the ones before it. *)
Fixpoint draft_chain (prefix : seq V) (lookahead : nat) : program K V (seq V) :=
  if lookahead is l.+1 then
    Draw (draft prefix) (fun x => bind (draft_chain (rcons prefix x) l) (fun xs => Ret (x :: xs)))
  else Ret [::].

Fixpoint verify_chain (prefix drafts : seq V) : program K V (seq V) :=
  if drafts is x :: xs then
    let t := target prefix in let d := draft prefix in
    Flip (capped_ratio (t x) (d x))
      (bind (verify_chain (rcons prefix x) xs) (fun emitted => Ret (x :: emitted)))
      (Draw (residual tokens t d) (fun y => Ret [:: y]))
  else Draw (target prefix) (fun y => Ret [:: y]).

Definition chain (lookahead : nat) (prefix : seq V) : program K V (seq V) :=
  bind (draft_chain prefix lookahead) (verify_chain prefix).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R).
Hypotheses (dt : is_model target) (dd : is_model draft).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation capped_ratio := (@capped_ratio (of_field R)).
Notation residual := (@residual (of_field R) V (enum V)).
Notation continued := (@continued (of_field R) V target).
Notation overlap := (@overlap (of_field R) V (enum V)).
Notation excess_mass := (@excess_mass (of_field R) V (enum V)).
Notation text_chance := (@text_chance (of_field R) V target).
Notation draft_chain := (@draft_chain (of_field R) V draft).
Notation verify_chain := (@verify_chain (of_field R) V (enum V) target draft).
Notation chain := (@chain (of_field R) V (enum V) target draft).

Lemma draft_chain_valid prefix l : valid (draft_chain prefix l).
Proof. by elim: l prefix => [|l IH] prefix //=; split=> // x _; apply: valid_bind. Qed.

Lemma verify_chain_valid prefix drafts : valid (verify_chain prefix drafts).
Proof.
elim: drafts prefix => [|x xs IH] prefix /=; first by split.
split; first by apply: capped_ratio_in01; [apply: (dt _).1|apply: (dd _).1].
split=> _; first exact: valid_bind.
by split=> //; apply: residual_is_distribution.
Qed.

(** What becomes of the first draft y: kept, or replaced by a token of the residual. *)
Lemma expect_first_draft prefix y xs v x :
  let t := target prefix in let d := draft prefix in
  expect (verify_chain prefix (y :: xs)) (fun e => continued prefix e (v :: x))
  = capped_ratio (t y) (d y)
      * (if y == v then expect (verify_chain (rcons prefix y) xs) (fun e => continued (rcons prefix y) e x) else 0)
    + (1 - capped_ratio (t y) (d y)) * (residual t d v * text_chance (rcons prefix v) x).
Proof.
move=> t d; rewrite -(expect_last_token target) expect_flip; congr (_ * _ + _).
rewrite expect_bind /=; case: (y == v) => //; exact: expect_const (verify_chain_valid _ _).
Qed.

Theorem chain_is_lossless lookahead : lossless_block target (chain lookahead).
Proof.
move=> prefix.
have vc p l : valid (chain l p).
  by apply: valid_bind => [|drafts]; [apply: draft_chain_valid|apply: verify_chain_valid].
split=> // x; elim: lookahead prefix x => [|l IH] prefix [|v x]; try exact: (expect_const 1 (vc _ _)).
  exact: (expect_last_token target prefix (target prefix) v x).
set t := target prefix; set d := draft prefix.
rewrite /chain.chain /= sum_over_enum.
have kept y : expect (bind (bind (draft_chain (rcons prefix y) l) (fun xs => Ret (y :: xs))) (verify_chain prefix))
    (fun e => continued prefix e (v :: x))
  = capped_ratio (t y) (d y) * (if y == v then text_chance (rcons prefix y) x else 0)
    + (1 - capped_ratio (t y) (d y)) * (residual t d v * text_chance (rcons prefix v) x).
  rewrite !expect_bind.
  transitivity (expect (draft_chain (rcons prefix y) l) (fun xs => capped_ratio (t y) (d y)
      * (if y == v then expect (verify_chain (rcons prefix y) xs) (fun e => continued (rcons prefix y) e x) else 0)
    + (1 - capped_ratio (t y) (d y)) * (residual t d v * text_chance (rcons prefix v) x))).
    by apply: expect_eq => xs; apply: expect_first_draft.
  rewrite expect_add !expect_scale (expect_const _ (draft_chain_valid _ _)); congr (_ * _ + _).
  case: (y == v); last exact: expect_const (draft_chain_valid _ _).
  by rewrite -IH expect_bind.
under eq_bigr => y _ do rewrite kept mulrDr mulrA draft_mul_capped_ratio ?(dt prefix).1 ?(dd prefix).1 //.
rewrite big_split /= sum_if_eq.
under [X in _ + X]eq_bigr => y _ do rewrite mulrA mulrBr mulr1 draft_mul_capped_ratio ?(dt prefix).1 ?(dd prefix).1 //.
rewrite -mulr_suml sumrB (dd prefix).2 -overlapE.
have -> : 1 - overlap t d = excess_mass t d by rewrite -(dt prefix).2 -(overlap_add_excess t d) addrC addKr.
by rewrite mulrA excess_mul_residual -mulrDl min_add_positive_part.
Qed.
End Theorems.
