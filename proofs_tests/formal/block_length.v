(** Theorem 11. Block verification is never shorter than verification token by token.

    Both verify the same chain of drafts. For every target, draft, prefix and lookahead, and for every nondecreasing
    function g, the expectation of g(number of emitted tokens) is at least as large under block verification. Two
    special cases are stated: block verification emits at least as many tokens in expectation, and for every n it emits
    more than n tokens with at least the same probability. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text chain block.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R).
Hypotheses (dt : is_model target) (dd : is_model draft).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation capped_ratio a b := (@capped_ratio (of_field R) a b : R).
Notation draft_chain := (@draft_chain (of_field R) V draft).
Notation verify_chain := (@verify_chain (of_field R) V (enum V) target draft).
Notation chain := (@chain (of_field R) V (enum V) target draft).
Notation left w t d := (@left (of_field R) V (enum V) w t d : R).
Notation next_weight w t d x := (@next_weight (of_field R) V w t d x : R).
Notation last_accepted := (@last_accepted (of_field R) V (enum V) target draft).
Notation block := (@block (of_field R) V (enum V) target draft).
Implicit Types (w h : R) (t d : V -> R) (prefix drafts emitted : seq V) (g : nat -> R).

Definition nondecreasing g : Prop := forall m n, (m <= n)%N -> g m <= g n.

(** A function of the number of tokens that are emitted; 0 where no position accepts. *)
Definition of_size g emitted : R := g (size emitted).
Definition of_size_kept g (found : option (seq V)) : R := if found is Some emitted then g (size emitted) else 0.
Definition longer g (n : nat) : R := g n.+1.

(** The expectations over the drafts: token by token, and of the positions from here on in a block. *)
Definition by_token l prefix g : R :=
  expect (draft_chain prefix l) (fun xs => expect (verify_chain prefix xs) (of_size g)).
Definition from_here l prefix w g : R :=
  expect (draft_chain prefix l) (fun xs => expect (last_accepted prefix w xs) (of_size_kept g)).

Lemma longer_nondecreasing g : nondecreasing g -> nondecreasing (longer g).
Proof. by move=> up m n mn; apply: up. Qed.

Lemma average_of_constant (m : V -> R) (c : R) : is_distribution m ->
  expect (Draw (m : V -> of_field R) (fun y => Ret c)) id = c.
Proof. by move=> dm; rewrite expect_draw /= -mulr_suml dm.2 mul1r. Qed.

(** One more draft, token by token: it is kept, or the block ends with one token. *)
Lemma by_token_step l prefix g :
  let r y := capped_ratio (target prefix y) (draft prefix y) in
  by_token l.+1 prefix g
    = \sum_y draft prefix y * (r y * by_token l (rcons prefix y) (longer g) + (1 - r y) * g 1%N).
Proof.
move=> r; rewrite /by_token /= sum_over_enum; apply: eq_bigr => y _; congr (_ * _).
rewrite expect_bind -expect_scale -[X in _ + X](expect_const _ (draft_chain_valid dd (rcons prefix y) l)) -expect_add.
apply: expect_eq => xs /=; congr (_ * _ + _ * _); first by rewrite expect_bind.
exact: (average_of_constant (g 1%N)) (residual_is_distribution _ (dt prefix)).
Qed.

Lemma by_token_0 prefix g : by_token 0 prefix g = g 1%N.
Proof. exact: (average_of_constant (g 1%N)) (dt prefix). Qed.

(** At least one token is emitted. *)
Lemma by_token_ge l prefix g : nondecreasing g -> g 1%N <= by_token l prefix g.
Proof.
elim: l prefix g => [|l IH] prefix g up; first by rewrite by_token_0.
rewrite by_token_step -[X in X <= _](average_of_constant _ (dd prefix)) expect_draw /=; apply: ler_sum => y _.
have /andP[r0 r1] := capped_ratio_in01 ((dt prefix).1 y) ((dd prefix).1 y).
rewrite ler_wpmul2l ?(dd prefix).1 //; set r := position.capped_ratio _ _ in r0 r1 *.
have {1}-> : g 1%N = r * g 1%N + (1 - r) * g 1%N by rewrite -mulrDl addrC subrK mul1r.
rewrite ler_add2r ler_wpmul2l //.
by apply: le_trans (IH _ _ (longer_nondecreasing up)); apply: up.
Qed.

(** No later position accepts with the chance that the weight leaves. *)
Lemma nobody l prefix w : 0 <= w <= 1 ->
  expect (draft_chain prefix l) (fun xs => expect (last_accepted prefix w xs) (@none_found R V)) = 1 - w.
Proof.
move=> w01; have dc := draft_chain_valid dd prefix l.
rewrite (average_none_found target prefix dc) => [|xs]; last exact: last_accepted_valid.
by rewrite (last_accepted_law dt dd l prefix [::] w01) mulr1.
Qed.

(** One more draft in a block, where the position before it accepts with chance h if no later one does. *)
Definition with_one_more l prefix w h g : R :=
  \sum_y draft prefix y * (from_here l (rcons prefix y) (next_weight w (target prefix) (draft prefix) y) (longer g)
    + h * g 1%N * (1 - next_weight w (target prefix) (draft prefix) y)).

Lemma from_here_step l prefix w g : 0 <= w <= 1 ->
  let m := left w (target prefix) (draft prefix) in
  from_here l.+1 prefix w g = with_one_more l prefix w (m / (m + (1 - w))) g.
Proof.
move=> /andP[w0 w1] m; set h := m / _; rewrite /from_here /= sum_over_enum; apply: eq_bigr => y _; congr (_ * _).
have v01 := next_weight_in01 y w0 (dt prefix) (dd prefix).
rewrite expect_bind -(nobody l (rcons prefix y) v01) -expect_scale -expect_add; apply: expect_eq => xs /=.
rewrite -/m -/h !expect_bind.
set later := last_accepted _ _ _; set A := (X in h * X + _ = _); set B := (X in _ + _ * X = _).
have -> : B = expect later (of_size_kept (longer g)) by apply: expect_eq => [[e|]].
have -> : A = expect later (of_size_kept (longer g)) + g 1%N * expect later (@none_found R V).
  rewrite -expect_scale -expect_add; apply: expect_eq => [[e|]] /=; first by rewrite mulr0 addr0.
  rewrite add0r mulr1; exact: (average_of_constant (g 1%N)) (weighted_residual_is_distribution _ _ (dt prefix)).
by rewrite mulrDr addrAC -mulrDl [h + _]addrC subrK mul1r mulrA.
Qed.

Lemma ratio_le_next_weight w t d y : 0 <= w <= 1 -> w * capped_ratio (t y) (d y) <= next_weight w t d y.
Proof.
move=> /andP[w0 w1]; rewrite /block.next_weight /position.capped_ratio /= minr_pmulr // mulr1 -mulrA.
by rewrite le_minr !le_minl w1 lexx orbT.
Qed.

(** The block's positions from here on do at least as well as the weight times token by token. *)
Definition at_least_the_weight l : Prop := forall prefix w g, 0 <= w <= 1 -> nondecreasing g ->
  w * by_token l prefix g <= from_here l prefix w g.

Lemma one_more l prefix w h g :
  0 <= w <= 1 -> nondecreasing g ->
  (left w (target prefix) (draft prefix) + (1 - w)) * h = left w (target prefix) (draft prefix) ->
  at_least_the_weight l -> w * by_token l.+1 prefix g <= with_one_more l prefix w h g.
Proof.
move=> w01 up own IH; have /andP[w0 w1] := w01; rewrite by_token_step /with_one_more.
set t := target prefix in own *; set d := draft prefix in own *.
pose v y := next_weight w t d y; pose r y := capped_ratio (t y) (d y).
have dv : \sum_y d y * (1 - v y) = left w t d + (1 - w) := mass_not_kept w0 (dt prefix) (dd prefix).
have total : \sum_y d y * ((v y + h * (1 - v y) - w) * g 1%N) = 0.
  under eq_bigr do rewrite mulrA.
  rewrite -mulr_suml; suff -> : \sum_y d y * (v y + h * (1 - v y) - w) = 0 by rewrite mul0r.
  have -> : \sum_y d y * (v y + h * (1 - v y) - w) = (1 - w) * (\sum_y d y) - (1 - h) * \sum_y d y * (1 - v y).
    rewrite !mulr_sumr -sumrB; apply: eq_bigr => y _.
    rewrite [(1 - w) * _]mulrC mulrCA -mulrBr; congr (_ * _).
    by rewrite mulrBl mul1r opprB [h * _ - _]addrC addrACA subKr [- w + _]addrC addrA.
  by rewrite dv (dd prefix).2 mulr1 mulrBl mul1r [h * _]mulrC own [left w t d + _]addrC addrK subrr.
rewrite mulr_sumr -[X in _ <= X]subr0 -[X in _ <= _ - X]total -sumrB; apply: ler_sum => y _.
rewrite mulrCA -mulrBr ler_wpmul2l ?(dd prefix).1 //.
have v01 := next_weight_in01 y w0 (dt prefix) (dd prefix).
have step := IH (rcons prefix y) _ _ v01 (longer_nondecreasing up).
have c1 : g 1%N <= by_token l (rcons prefix y) (longer g).
  by apply: le_trans (by_token_ge _ _ (longer_nondecreasing up)); apply: up.
have rv : w * r y <= v y := ratio_le_next_weight t d y w01.
set C := by_token _ _ _ in step c1 *; set B := from_here _ _ _ _ in step *; set G := g 1%N.
rewrite -/(v y) -/(r y) in v01 step rv *.
have -> : w * (r y * C + (1 - r y) * G) = w * r y * (C - G) + w * G.
  by rewrite -[w * r y * _]mulrA -mulrDr mulrBl mul1r mulrBr addrA addrAC.
have -> : B + h * G * (1 - v y) - (v y + h * (1 - v y) - w) * G = B - v y * G + w * G.
  by rewrite [h * G * _]mulrAC mulrBl mulrDl opprB opprD [w * G + _]addrCA addrACA [h * _ * G + _]addrCA subrr addr0.
rewrite ler_add2r; apply: (@le_trans _ _ (v y * (C - G))).
  by rewrite ler_wpmul2r // subr_ge0.
by rewrite mulrBr ler_add2r.
Qed.

Lemma at_least_the_weight_always l : at_least_the_weight l.
Proof.
elim: l => [|l IH] prefix w g w01 up; last first.
  by rewrite from_here_step //; apply: one_more => //; apply: chance_mul_mass; case/andP: w01.
by rewrite by_token_0 -[g 1%N](by_token_0 prefix) /from_here /= [X in _ <= _ + X]mulr0 addr0.
Qed.

(** A block with a draft: position 0 has weight 1, and always accepts. *)
Lemma block_step l prefix g : expect (block l.+1 prefix) (of_size g) = with_one_more l prefix 1 1 g.
Proof.
rewrite expect_bind /with_one_more /= sum_over_enum; apply: eq_bigr => y _; congr (_ * _).
have v01 := next_weight_in01 y ler01 (dt prefix) (dd prefix).
rewrite expect_bind -(nobody l (rcons prefix y) v01) -expect_scale -expect_add; apply: expect_eq => xs /=.
rewrite expect_bind mul1r -expect_scale -expect_add; apply: expect_eq => [[e|]] /=; first by rewrite mulr0 addr0.
rewrite add0r mulr1; exact: (average_of_constant (g 1%N)) (weighted_residual_is_distribution _ _ (dt prefix)).
Qed.

(** Block verification emits at least as many tokens, in distribution. *)
Theorem block_is_never_shorter g lookahead prefix : nondecreasing g ->
  expect (chain lookahead prefix) (of_size g) <= expect (block lookahead prefix) (of_size g).
Proof.
move=> up; case: lookahead => [|l]; first by rewrite !expect_bind.
rewrite block_step expect_bind -/(by_token _ _ _) -[X in X <= _]mul1r.
apply: one_more; [exact: all1 | by [] | | exact: at_least_the_weight_always].
by rewrite mulr1 subrr addr0.
Qed.

(** The expected number of emitted tokens. *)
Corollary block_emits_at_least_as_many_tokens lookahead prefix :
  expect (chain lookahead prefix) (fun emitted => (size emitted)%:R)
    <= expect (block lookahead prefix) (fun emitted => (size emitted)%:R).
Proof. by apply: (@block_is_never_shorter (fun n => n%:R)) => m n mn; rewrite ler_nat. Qed.

(** The probability of more than n tokens. *)
Corollary block_is_longer_than_n_at_least_as_often lookahead prefix n :
  chance (chain lookahead prefix) (fun emitted => n < size emitted)%N
    <= chance (block lookahead prefix) (fun emitted => n < size emitted)%N.
Proof.
apply: (@block_is_never_shorter (fun m => if (n < m)%N then 1 else 0)) => i j ij.
by case: (ltnP n i) => [ni|_]; [rewrite (leq_trans ni ij)|case: (n < j)%N; rewrite ?ler01].
Qed.

End Theorems.
