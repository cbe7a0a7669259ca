(** Theorem 9. A drafted tree of any shape, with a lossless verifier at every node, is lossless (SpecTr, Algorithm 3).

    The whole tree is drafted first. At a node, reached by a path, [state] says what its drafts depend on beside the
    path: the number of drafts left, for paths drawn i.i.d. The node's drafts S are drawn by [children]; [next] gives
    the state of the node below a token. The walk verifies the drafts of a node, emits the token y, and goes on below y
    where y is a draft; behind the last level the target gives a token. It is enough that the verifier of each node is
    lossless for the drafts that are drawn there, given the path and the state. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (target : seq V -> V -> K) (state : Type).
Variable children : seq V -> state -> program K V (seq V).
Variable verify : seq V -> state -> seq V -> program K V (emission V).
Variable next : state -> seq V -> V -> state.

(** The drafts of a node, and the trees below the tokens among them. *)
Inductive tree : Type := Tree of seq V & seq (V * tree).

Fixpoint draw_each (A : Type) (make : V -> program K V A) (vs : seq V) : program K V (seq (V * A)) :=
  if vs is v :: vs' then bind (make v) (fun a => bind (draw_each make vs') (fun rest => Ret ((v, a) :: rest)))
  else Ret [::].

Fixpoint lookup (A : Type) (v : V) (below : seq (V * A)) : option A :=
  if below is (u, a) :: rest then if u == v then Some a else lookup v rest else None.

Fixpoint draft_tree (depth : nat) (prefix : seq V) (s : state) : program K V tree :=
  if depth is l.+1 then
    bind (children prefix s) (fun drafts =>
      bind (draw_each (fun v => draft_tree l (rcons prefix v) (next s drafts v)) (undup drafts))
        (fun below => Ret (Tree drafts below)))
  else Ret (Tree [::] [::]).

Fixpoint walk (depth : nat) (prefix : seq V) (s : state) (T : tree) : program K V (seq V) :=
  if depth is l.+1 then
    let: Tree drafts below := T in
    bind (verify prefix s drafts) (fun e =>
      if lookup e.1 below is Some T' then
        bind (walk l (rcons prefix e.1) (next s drafts e.1) T') (fun rest => Ret (e.1 :: rest))
      else Ret [:: e.1])
  else Draw (target prefix) (fun y => Ret [:: y]).

Definition tree_decoding (depth : nat) (s : state) (prefix : seq V) : program K V (seq V) :=
  bind (draft_tree depth prefix s) (walk depth prefix s).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target : seq V -> V -> R) (state : Type).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V target).
Notation continued := (@continued (of_field R) V target).
Variable children : seq V -> state -> program (seq V).
Variable verify : seq V -> state -> seq V -> program (emission V).
Variable next : state -> seq V -> V -> state.
Notation draft_tree := (draft_tree children next).
Notation walk := (@walk (of_field R) V target state verify next).
Notation tree_decoding := (@tree_decoding (of_field R) V target state children verify next).
Hypothesis dt : is_model target.
Hypothesis each_node_is_lossless : forall prefix s, lossless (children prefix s) (verify prefix s) (target prefix).

Lemma draw_each_valid (A : Type) (make : V -> program A) vs : (forall v, valid (make v)) -> valid (draw_each make vs).
Proof. by move=> vm; elim: vs => [|v vs IH] //=; apply: valid_bind => // a; apply: valid_bind. Qed.

Lemma children_valid prefix s : valid (children prefix s).
Proof. by have [vv _] := each_node_is_lossless prefix s; apply: valid_bind_left vv. Qed.

Lemma draft_tree_valid depth prefix s : valid (draft_tree depth prefix s).
Proof.
elim: depth prefix s => [|l IH] prefix s //=; apply: valid_bind => [|drafts]; first exact: children_valid.
by apply: valid_bind => //; apply: draw_each_valid.
Qed.

(** The order of independent programs does not matter. *)
Lemma expect_exchange (A B : Type) (m : program A) (n : program B) (f : A -> B -> R) :
  expect m (fun a => expect n (f a)) = expect n (fun b => expect m (fun a => f a b)).
Proof.
elim: m => [a|p yes IHyes no IHno|masses next' IH] //=.
  by rewrite IHyes IHno -!expect_scale -expect_add.
rewrite sum_over_enum; under eq_bigr do rewrite IH -expect_scale.
by rewrite -expect_sum; apply: expect_eq => b; rewrite sum_over_enum.
Qed.

(** Only the tree below the token that is looked for matters. *)
Lemma expect_lookup (A : Type) (make : V -> program A) vs (g : option A -> R) v :
  (forall u, valid (make u)) ->
  expect (draw_each make vs) (fun below => g (lookup v below))
    = if v \in vs then expect (make v) (fun a => g (Some a)) else g None.
Proof.
move=> vm; elim: vs => [|u vs IH] //=; rewrite expect_bind inE eq_sym.
case: eqP => [->|ne] /=.
  apply: expect_eq => a; rewrite expect_bind /= eqxx; exact: expect_const (draw_each_valid _ vm).
rewrite -IH -[RHS](expect_const _ (vm u)); apply: expect_eq => a; rewrite expect_bind /=.
by apply: expect_eq => below /=; case: eqP ne.
Qed.

(** What holds of each tree that can be drawn below a token may be used of the list of them. *)
Lemma valid_after_draw_each (A B C : Type) (make : V -> program A) (use : V -> A -> program C) vs
    (k : seq (V * A) -> program B) :
  (forall v, valid (bind (make v) (use v))) ->
  (forall below, (forall v a, lookup v below = Some a -> valid (use v a)) -> valid (k below)) ->
  valid (bind (draw_each make vs) k).
Proof.
move=> vu; elim: vs k => [|v vs IH] k vk /=; first exact: vk.
apply: valid_bind_assoc; apply: valid_bind_imply (vu v) => a va; apply: valid_bind_assoc.
apply: IH => below good; apply: vk => u b /=; case: eqP => [<- [<-]|_] //; exact: good.
Qed.

Lemma tree_decoding_valid depth prefix s : valid (tree_decoding depth s prefix).
Proof.
elim: depth prefix s => [|l IH] prefix s /=; first by split.
have [vv _] := each_node_is_lossless prefix s; rewrite /tree.tree_decoding /=.
apply: valid_bind_assoc; apply: valid_bind_imply vv => drafts vd; apply: valid_bind_assoc.
apply: (valid_after_draw_each (use := fun v => walk l (rcons prefix v) (next s drafts v))) => [v|below good].
  exact: IH.
rewrite /=; apply: valid_bind => // e; case found: (lookup e.1 below) => [T|] //; exact: valid_bind (good _ _ found) _.
Qed.

(** One level: the token is emitted as the target has it, and the text goes on below it or with the target. *)
Lemma expect_level l prefix s v x :
  (forall prefix s, valid (tree_decoding l s prefix)) ->
  (forall prefix s x, expect (tree_decoding l s prefix) (fun e => continued prefix e x) = text_chance prefix x) ->
  expect (tree_decoding l.+1 s prefix) (fun e => continued prefix e (v :: x)) = text_chance prefix (v :: x).
Proof.
move=> vl IH; pose goes y : R := (if y == v then 1 else 0) * text_chance (rcons prefix v) x.
pose after drafts e found := expect (if found is Some T then
    bind (walk l (rcons prefix (e : emission V).1) (next s drafts e.1) T) (fun xs => Ret (e.1 :: xs)) else Ret [:: e.1])
  (fun emitted => continued prefix emitted (v :: x)).
transitivity (expect (bind (children prefix s) (verify prefix s)) (fun e => goes e.1)).
  rewrite /tree.tree_decoding /= !expect_bind; apply: expect_eq => drafts; rewrite !expect_bind.
  transitivity (expect (draw_each (fun u => draft_tree l (rcons prefix u) (next s drafts u)) (undup drafts))
      (fun below => expect (verify prefix s drafts) (fun e => after drafts e (lookup e.1 below)))).
    by apply: expect_eq => below; rewrite /= expect_bind.
  rewrite expect_exchange; apply: expect_eq => e.
  rewrite (expect_lookup _ (after drafts e)); last by move=> u; apply: draft_tree_valid.
  rewrite mem_undup /goes; case: (e.1 \in drafts); last first.
    by rewrite /after /=; case: eqP => [->|_]; rewrite ?mul1r ?mul0r ?continued_nil.
  transitivity (expect (tree_decoding l (next s drafts e.1) (rcons prefix e.1))
      (fun rest => continued prefix (e.1 :: rest) (v :: x))).
    by rewrite /tree.tree_decoding expect_bind; apply: expect_eq => T; rewrite /after expect_bind.
  rewrite /=; case: eqP => [->|_]; first by rewrite IH mul1r.
  by rewrite mul0r; apply: expect_const.
have [_ law] := each_node_is_lossless prefix s.
have -> : text_chance prefix (v :: x) = text_chance (rcons prefix v) x * target prefix v by rewrite mulrC.
rewrite -law /program.chance -expect_scale; apply: expect_eq => e; by rewrite mulrC.
Qed.

Theorem tree_is_lossless depth s : lossless_block target (tree_decoding depth s).
Proof.
move=> prefix; split; first exact: tree_decoding_valid.
elim: depth prefix s => [|l IH] prefix s [|v x]; try exact: (expect_const 1 (tree_decoding_valid _ _ _)).
  exact: (expect_last_token target prefix (target prefix) v x).
by apply: expect_level => [prefix' s'|prefix' s' y]; [apply: tree_decoding_valid|apply: IH].
Qed.

End Theorems.
