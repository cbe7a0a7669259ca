(** Theorem 12. One chain, selected from the drafts by any rule and verified as a block, is lossless.

    The drafts are of any kind (k i.i.d. chains, a tree), drawn by any program; a rule, which may flip coins, selects
    one chain of a fixed length from them. Let c be conditionals of the selected chain: for every text x of that length,
    the selected chain is x with probability c(x_1) c(x_2 | x_1) c(x_3 | x_1 x_2) and so on. Block verification
    (Theorem 10) of the selected chain, with c in place of the draft, is then lossless, for any lookahead and any number
    of rounds. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text chain block.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target : seq V -> V -> K).
Local Open Scope numbers_scope.

(** The drafts, of any type [D], and what [select] makes of them. *)
Variables (D : Type) (drafts : seq V -> program K V D) (select : seq V -> D -> program K V (seq V)).
Definition selected (start : seq V) : program K V (seq V) := bind (drafts start) (select start).

(** [chosen start] are the conditionals of the chain selected in the block that starts behind the prefix [start]. *)
Definition selected_block (chosen : seq V -> seq V -> V -> K) (start : seq V) : program K V (seq V) :=
  bind (selected start) (verify_block tokens target (chosen start) start).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target : seq V -> V -> R).
Hypothesis dt : is_model target.
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V).
Notation draft_chain := (@draft_chain (of_field R) V).

(** What has no chance adds nothing to an expectation. *)
Lemma expect_of_no_chance (A : Type) (m : program A) (g f : A -> R) :
  valid m -> (forall a, 0 <= g a) -> expect m g = 0 -> expect m (fun a => g a * f a) = 0.
Proof.
move=> + g0; have pos n : valid n -> 0 <= expect n g by move=> vn; rewrite -(expect_const 0 vn); apply: expect_le.
have weighted_ge0 (p a : R) : 0 <= p -> (0 < p -> 0 <= a) -> 0 <= p * a.
  by rewrite le_eqVlt => /predU1P[<-|p0 /(_ p0)]; [rewrite mul0r | apply/mulr_ge0/ltW].
have weighted_eq0 (p a b : R) : 0 <= p -> (0 < p -> a = 0 -> b = 0) -> p * a = 0 -> p * b = 0.
  rewrite le_eqVlt => /predU1P[<-|p0 ab /eqP]; first by rewrite !mul0r.
  by rewrite mulf_eq0 gt_eqF //= => /eqP/(ab p0)->; rewrite mulr0.
elim: m => [a|p yes IHyes no IHno|masses next IH] /=; first by move=> _ ->; rewrite mul0r.
  rewrite -[p < 1]subr_gt0 => [[/andP[p0]]]; rewrite -subr_ge0 => q0 [vyes vno] /eqP.
  have yes0 := weighted_ge0 _ _ p0 (fun h => pos _ (vyes h)); have no0 := weighted_ge0 _ _ q0 (fun h => pos _ (vno h)).
  rewrite paddr_eq0 // => /andP[/eqP hy /eqP hn].
  rewrite (weighted_eq0 _ _ _ p0 _ hy) ?(weighted_eq0 _ _ _ q0 _ hn) ?addr0 // => h;
    [exact: IHno (vno h)|exact: IHyes (vyes h)].
rewrite !sum_over_enum => [[[m0 _] vnext]] total; apply: big1 => v _.
apply: (weighted_eq0 _ (expect (next v) g) _ (m0 v)); first by move=> h; apply/IH/vnext.
by apply: (psumr_eq0P _ total) => // w _; apply: weighted_ge0 => // h; apply/pos/vnext.
Qed.

Lemma sum_points l (a : seq V) (f : seq V -> R) :
  \sum_(x : l.-tuple V) f x * (if a == x then 1 else 0) = if size a == l then f a else 0.
Proof.
case: eqP => [sa|sa]; last first.
  by apply: big1 => x _; case: eqP => [ax|_]; rewrite ?mulr0 //; case: sa; rewrite ax size_tuple.
move/eqP: sa => sa; rewrite (bigD1 (Tuple sa)) //= eqxx mulr1 big1 ?addr0 // => x xa.
by case: eqP => [ax|_]; rewrite ?mulr0 //; case/eqP: xa; apply: val_inj.
Qed.

(** An expectation is a sum over the texts of a length, if the texts of this length have all the chance. *)
Lemma expect_points (m : program (seq V)) l (f : seq V -> R) : valid m ->
  \sum_(x : l.-tuple V) chance m (pred1 (x : seq V)) = 1 ->
  expect m f = \sum_(x : l.-tuple V) chance m (pred1 (x : seq V)) * f x.
Proof.
move=> vm total.
have points (g : seq V -> R) : \sum_(x : l.-tuple V) chance m (pred1 (x : seq V)) * g x
    = expect m (fun a => if size a == l then g a else 0).
  rewrite -(expect_eq _ (fun a => sum_points l a g)) expect_sum.
  by apply: eq_bigr => x _; rewrite expect_scale mulrC.
have all1 : expect m (fun a => if size a == l then 1 else 0) = 1.
  by rewrite -(points (fun=> 1)) -[RHS]total; apply: eq_bigr => x _; rewrite mulr1.
have other : expect m (fun a => (if size a == l then 0 else 1) * f a) = 0.
  apply: (@expect_of_no_chance _ _ (fun a => if size a == l then 0 else 1)) => // [a|].
    by case: (size a == l); rewrite ?lexx ?ler01.
  transitivity (expect m (fun a => 1 - (if size a == l then 1 else 0))).
    by apply: expect_eq => a; case: (size a == l); rewrite ?subrr ?subr0.
  by rewrite expect_sub (expect_const _ vm) all1 subrr.
transitivity (expect m (fun a => (if size a == l then f a else 0) + (if size a == l then 0 else 1) * f a)).
  by apply: expect_eq => a; case: (size a == l); rewrite ?mul0r ?addr0 ?mul1r ?add0r.
by rewrite expect_add other addr0 points.
Qed.

Section Chain.
Variables (draft : seq V -> V -> R) (dd : is_model draft).

Lemma expect_size prefix l (f : nat -> R) : expect (draft_chain draft prefix l) (fun s => f (size s)) = f l.
Proof.
elim: l prefix f => [|l IH] prefix f //=; rewrite sum_over_enum -[RHS]mul1r -(dd prefix).2 mulr_suml.
by apply: eq_bigr => v _; rewrite expect_bind /= (IH _ (fun n => f n.+1)).
Qed.

Lemma draft_chain_points prefix x : chance (draft_chain draft prefix (size x)) (pred1 x) = text_chance draft prefix x.
Proof.
elim: x prefix => [|v x IH] prefix //=; rewrite /program.chance /= sum_over_enum.
rewrite -(sum_if_eq (draft prefix) (fun y => text_chance draft (rcons prefix y) x)).
apply: eq_bigr => y _; congr (_ * _).
rewrite expect_bind /=; case: eqP => [->|yv].
  by rewrite -IH; apply: expect_eq => xs /=; rewrite eqseq_cons eqxx.
rewrite -[RHS](expect_const 0 (draft_chain_valid dd (rcons prefix y) (size x))); apply: expect_eq => xs /=.
by rewrite eqseq_cons; case: eqP yv.
Qed.

Lemma total_chance prefix l : \sum_(x : l.-tuple V) text_chance draft prefix x = 1.
Proof.
transitivity (expect (draft_chain draft prefix l) (fun a => \sum_(x : l.-tuple V) 1 * (if a == x then 1 else 0))).
  rewrite expect_sum; apply: eq_bigr => x _; rewrite -draft_chain_points size_tuple.
  by apply: expect_eq => a; rewrite mul1r.
rewrite (expect_eq _ (fun a => sum_points l a (fun=> 1))) (expect_size _ _ (fun n => if n == l then 1 else 0)).
by rewrite eqxx.
Qed.

(** A program with the chances of a drafted chain has all its expectations. *)
Lemma expect_as_draft_chain (m : program (seq V)) prefix l (f : seq V -> R) : valid m ->
  (forall x, size x = l -> chance m (pred1 x) = text_chance draft prefix x) ->
  expect m f = expect (draft_chain draft prefix l) f.
Proof.
move=> vm law; have points (x : l.-tuple V) :
    chance (draft_chain draft prefix l) (pred1 (x : seq V)) = chance m (pred1 (x : seq V)).
  by rewrite law ?size_tuple // -draft_chain_points size_tuple.
have total : \sum_(x : l.-tuple V) chance m (pred1 (x : seq V)) = 1.
  by rewrite -(total_chance prefix l); apply: eq_bigr => x _; rewrite law ?size_tuple.
rewrite (expect_points _ vm total) (expect_points f (draft_chain_valid dd prefix l) (l := l)).
  by apply: eq_bigr => x _; rewrite points.
by rewrite -[RHS]total; apply: eq_bigr => x _; rewrite points.
Qed.
End Chain.

Variables (D : Type) (drafts : seq V -> program D) (select : seq V -> D -> program (seq V)).
Notation selected := (@selected (of_field R) V D drafts select).
Notation selected_block := (@selected_block (of_field R) V (enum V) target D drafts select).
Hypothesis select_valid : forall start, valid (selected start).

Theorem selected_chain_is_lossless chosen lookahead :
  (forall start, is_model (chosen start)) ->
  (forall start x, size x = lookahead -> chance (selected start) (pred1 x) = text_chance (chosen start) start x) ->
  lossless_block target (selected_block chosen).
Proof.
move=> dc law start; split=> [|x].
  by apply: valid_bind => // tokens; apply: verify_block_valid.
rewrite expect_bind (expect_as_draft_chain (dc start) _ (select_valid start) (law start)) -expect_bind.
exact: (block_is_lossless dt (dc start) lookahead start).2.
Qed.

End Theorems.
