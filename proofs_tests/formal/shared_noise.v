(** Theorem 16. Shared noise: one finite value of noise a position, which stays that of its position after a rejection.

    Plain decoding writes the token that [decode prefix n] makes of the noise n. A round of speculative decoding takes
    any drafts, which may depend on all of the noise; it keeps a draft where plain decoding writes it, and writes that
    token where it does not. Whatever the drafts are, the text is the one that plain decoding writes with that noise.
    So it has the target's distribution wherever one value of noise gives a token of the target's distribution. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text recursive.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (V : eqType) (N : Type) (decode : seq V -> N -> V).

Fixpoint plain (prefix : seq V) (noise : seq N) : seq V :=
  if noise is n :: rest then decode prefix n :: plain (rcons prefix (decode prefix n)) rest else [::].

(** One round: drafts are kept up to the first that plain decoding does not write; its token comes behind them. *)
Fixpoint verify_noise (prefix : seq V) (noise : seq N) (drafts : seq V) : seq V :=
  if noise is n :: rest then
    let y := decode prefix n in
    if drafts is x :: xs then if x == y then y :: verify_noise (rcons prefix y) rest xs else [:: y] else [:: y]
  else [::].

(** Rounds until the noise is used up. The drafts are any function of the prefix and of the noise that is left; the
    theorems choose it with all of the noise in sight. *)
Fixpoint speculative (guess : seq V -> seq N -> seq V) (limit : nat) (prefix : seq V) (noise : seq N) : seq V :=
  if limit is l.+1 then
    let emitted := verify_noise prefix noise (guess prefix noise) in
    emitted ++ speculative guess l (prefix ++ emitted) (drop (size emitted) noise)
  else [::].

End Programs.

Section Theorems.
Variables (V : eqType) (N : Type) (decode : seq V -> N -> V).
Notation plain := (plain decode).
Notation verify_noise := (verify_noise decode).

(** A round writes what plain decoding writes, and with the noise that is left plain decoding goes on. *)
Lemma verify_noise_is_plain prefix noise drafts :
  let emitted := verify_noise prefix noise drafts in
  emitted ++ plain (prefix ++ emitted) (drop (size emitted) noise) = plain prefix noise.
Proof.
elim: noise prefix drafts => [|n rest IH] prefix [|x xs] //=; rewrite ?cats0 ?cats1 ?drop0 //.
by case: (x == decode prefix n); rewrite /= ?drop0 ?cats1 // -cat_rcons IH.
Qed.

Lemma verify_noise_writes prefix noise drafts : 0 < size noise -> 0 < size (verify_noise prefix noise drafts).
Proof. by case: noise drafts => [|n rest] [|x xs] //= _; case: (x == _). Qed.

Theorem speculative_text_is_the_plain_text guess prefix noise :
  speculative decode guess (size noise) prefix noise = plain prefix noise.
Proof.
suff law limit : size noise <= limit -> speculative decode guess limit prefix noise = plain prefix noise by exact: law.
elim: limit prefix noise => [|l IH] prefix noise enough /=; first by move: enough; rewrite leqn0 => /nilP->.
rewrite -[RHS](verify_noise_is_plain prefix noise (guess prefix noise)) IH // size_drop.
have [|some] := posnP (size noise); first by move=> ->; rewrite sub0n.
have := verify_noise_writes prefix (guess prefix noise) some; move: (size (verify_noise _ _ _)) => m m0.
by rewrite leq_subLR (leq_trans enough) // -[l.+1]add1n leq_add2r.
Qed.

End Theorems.

Section Law.
Variables (R : realFieldType) (V N : finType) (target : seq V -> V -> R) (noise_law : N -> R).
Variable decode : seq V -> N -> V.
Local Open Scope ring_scope.
Hypothesis dn : is_distribution noise_law.
(** One value of noise gives a token of the target's distribution. *)
Hypothesis decode_law : forall prefix v, \sum_n noise_law n * (if decode prefix n == v then 1 else 0) = target prefix v.
Notation expect := (@expect (of_field R) N (enum N) _).
Notation chance := (@chance (of_field R) N (enum N) _).
Notation draw_noise := (@draw_independent (of_field R) N noise_law).
Notation text_chance := (@text_chance (of_field R) V target).

Lemma plain_has_the_targets_law prefix x :
  chance (draw_noise (size x)) (fun noise => plain decode prefix noise == x) = text_chance prefix x.
Proof.
elim: x prefix => [|v x IH] prefix; first by [].
rewrite /program.chance /= sum_over_enum -decode_law mulr_suml; apply: eq_bigr => n _.
rewrite -mulrA; congr (_ * _); rewrite expect_bind.
transitivity (expect (draw_noise (size x)) (fun noise => (if decode prefix n == v then 1 else 0)
    * (if plain decode (rcons prefix (decode prefix n)) noise == x then 1 else 0))).
  by apply: expect_eq => noise; rewrite /= eqseq_cons; case: (_ == v); rewrite /= ?mul1r ?mul0r.
rewrite expect_scale -IH; case: eqP => [->|_]; rewrite ?mul0r //.
Qed.

Theorem speculative_text_is_lossless (guess : seq N -> seq V -> seq N -> seq V) prefix x :
  chance (draw_noise (size x)) (fun noise => speculative decode (guess noise) (size noise) prefix noise == x)
    = text_chance prefix x.
Proof.
rewrite -plain_has_the_targets_law; apply: expect_eq => noise; by rewrite speculative_text_is_the_plain_text.
Qed.

End Law.
