(** Theorem 15. Traversal verification of a drafted tree (Weng et al.) is lossless for any number of drafts at each node,
    as a function of the levels that are left and of the text.

    Below each node of the tree, tokens are drafted without replacement from the draft distribution there: as many as
    [width] says, or all tokens of positive mass if there are fewer. (The order in which the nodes are drafted does not
    matter; here it is depth first.) Each node has a weight w, a target t and a draft d: at first the conditional
    distributions there, and weight 1 at the root. A child x has the weight min(1, w t(x)/d(x)), from what its parent
    holds at that time. The leaves are tried depth first. A leaf of weight w is accepted with chance w: its path is
    emitted, and a token drawn from its t. A leaf that is rejected is taken off the tree, and its parent goes on with
    t = (w t - d)+ / r and w = r / (r + 1 - w), where r = sum (w t - d)+, and with d without that token, divided by the
    mass that is left. A node whose children are all taken off is a leaf. The root always accepts. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text without_replacement block.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** What is drafted below a node: nothing more, or a child, what is drafted below the child, and the later siblings. *)
Inductive forest (V : Type) : Type :=
| Bare
| Child of V & forest V & forest V.
Arguments Bare {V}.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target draft : seq V -> V -> K).
(** The number of drafts below a node, given the levels that are left and the text that leads to it. *)
Variable width : nat -> seq V -> nat.
Local Open Scope numbers_scope.

(** Draw k siblings after those that were seen, and below each of them what [below] draws. *)
Fixpoint draft_siblings (below : seq V -> program K V (forest V)) (prefix : seq V) (k : nat) (seen : seq V) :
    program K V (forest V) :=
  if k is k'.+1 then
    if is_zero (mass_left tokens (draft prefix) seen) then Ret Bare
    else Draw (without tokens (draft prefix) seen) (fun x => bind (below (rcons prefix x)) (fun F =>
           bind (draft_siblings below prefix k' (rcons seen x)) (fun rest => Ret (Child x F rest))))
  else Ret Bare.

Fixpoint draft_forest (depth : nat) (prefix : seq V) : program K V (forest V) :=
  if depth is l.+1 then draft_siblings (draft_forest l) prefix (width l.+1 prefix) [::] else Ret Bare.

(** The weight of a node after one of its children is rejected; 0/0 is weight 1 and t = d, where none is rejected. *)
Definition weight_after (w : K) (t d : V -> K) : K :=
  let r := left tokens w t d in if is_zero (r + (one - w)) then w else r / (r + (one - w)).

(** Try the leaves at and below a node; None where all of them are rejected. [seen] are the children taken off. *)
Fixpoint visit (prefix : seq V) (t : V -> K) (seen : seq V) (w : K) (F : forest V) : program K V (option (seq V)) :=
  if F is Child x below rest then
    let d := without tokens (draft prefix) seen in
    bind (visit (rcons prefix x) (target (rcons prefix x)) [::] (next_weight w t d x) below)
      (fun found => if found is Some emitted then Ret (Some (x :: emitted))
                    else visit prefix (weighted_residual tokens w t d) (rcons seen x) (weight_after w t d) rest)
  else Flip w (Draw t (fun y => Ret (Some [:: y]))) (Ret None).

(** The root has weight 1 throughout, so that something is found: see [root_accepts]. *)
Definition traversal (depth : nat) (prefix : seq V) : program K V (seq V) :=
  bind (draft_forest depth prefix) (fun F =>
    bind (visit prefix (target prefix) [::] one F) (fun found => Ret (odflt [::] found))).

End Programs.
Arguments weight_after : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R) (width : nat -> seq V -> nat).
Hypotheses (dt : is_model target) (dd : is_model draft).
Local Open Scope ring_scope.
Notation program := (program (of_field R) V).
Notation expect := (@expect (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V target).
Notation continued := (@continued (of_field R) V target).
Notation kept := (@kept R V target).
Notation none_found := (@none_found R V).
Notation begins := (@begins R V target).
Notation without prefix seen := (@without (of_field R) V (enum V) (draft prefix) seen).
Notation left w t d := (@left (of_field R) V (enum V) w t d : R).
Notation weighted_residual := (@weighted_residual (of_field R) V (enum V)).
Notation next_weight w t d x := (@next_weight (of_field R) V w t d x : R).
Notation weight_after w t d := (@weight_after (of_field R) V (enum V) w t d : R).
Notation draft_siblings := (@draft_siblings (of_field R) V (enum V) draft).
Notation draft_forest := (@draft_forest (of_field R) V (enum V) draft width).
Notation visit := (@visit (of_field R) V (enum V) target draft).
Notation traversal := (@traversal (of_field R) V (enum V) target draft width).
Implicit Types (w : R) (t d : V -> R) (prefix seen x emitted : seq V).
Implicit Types (F : forest V) (below : seq V -> program (forest V)).

Lemma without_ge0 prefix seen v : 0 <= without prefix seen v :> R.
Proof.
rewrite /without_replacement.without /= divr_ge0 ?(masses_without_ge0 (dd prefix)) //.
by rewrite mass_leftE sumr_ge0 // => u _; apply: masses_without_ge0 (dd prefix) _ _.
Qed.

Lemma weight_after_in01 w t d : 0 <= w <= 1 -> 0 <= weight_after w t d <= 1.
Proof. by move=> w01; rewrite /traversal.weight_after /=; case: (_ == _) => //; apply: chance_in01; case/andP: w01. Qed.

(** The chance of a rejection, times the weight after it, is the mass that is left. *)
Lemma rejected_mul_weight_after w t d : w <= 1 -> (left w t d + (1 - w)) * weight_after w t d = left w t d.
Proof.
move=> w1; rewrite /traversal.weight_after /=; case: eqP => [e0|_]; last exact: chance_mul_mass.
rewrite e0 mul0r; move/eqP: e0; rewrite paddr_eq0 ?left_ge0 ?subr_ge0 // => /andP[/eqP-> _]; by [].
Qed.

Lemma child_weight_in01 prefix seen w t v : 0 <= w -> is_distribution t ->
  0 <= next_weight w t (without prefix seen) v <= 1.
Proof. by move=> w0 dt'; apply: capped_ratio_in01; [rewrite mulr_ge0 ?dt'.1|apply: without_ge0]. Qed.

Lemma draft_siblings_valid below prefix k seen :
  (forall p, valid (below p)) -> valid (draft_siblings below prefix k seen).
Proof.
move=> vb; elim: k seen => [|k IH] seen //=; case: eqP => [|/eqP] m0 //; split=> [|v _].
  exact: without_is_distribution (dd prefix) _ m0.
by apply: valid_bind => // F; apply: valid_bind.
Qed.

Lemma draft_forest_valid depth prefix : valid (draft_forest depth prefix).
Proof. by elim: depth prefix => [|l IH] prefix //=; apply: draft_siblings_valid. Qed.

Lemma visit_valid prefix t seen w F : is_distribution t -> 0 <= w <= 1 -> valid (visit prefix t seen w F).
Proof.
elim: F prefix t seen w => [|x F IHF rest IHrest] prefix t seen w dt' w01 /=; first by [].
have /andP[w0 w1] := w01.
apply: valid_bind => [|[emitted|]] //; first by apply: IHF => //; apply: child_weight_in01.
by apply: IHrest; [apply: weighted_residual_is_distribution|apply: weight_after_in01].
Qed.

(** With the child y: what is emitted at and below it, and what its parent emits where all of that is rejected. *)
Lemma visit_child prefix t seen w y F rest x :
  let d := without prefix seen in
  let inside := visit (rcons prefix y) (target (rcons prefix y)) [::] (next_weight w t d y) F in
  expect (visit prefix t seen w (Child y F rest)) (kept prefix x)
    = expect inside (fun found => if found is Some emitted then continued prefix (y :: emitted) x else 0)
      + expect inside none_found
        * expect (visit prefix (weighted_residual w t d) (rcons seen y) (weight_after w t d) rest) (kept prefix x).
Proof.
move=> d inside; rewrite /= expect_bind [X in _ = _ + X]mulrC -expect_scale -expect_add.
apply: expect_eq => [[emitted|]] /=; first by rewrite mulr0 addr0.
by rewrite mulr1 add0r.
Qed.

(** What is emitted at and below a node has the law of its t, continued by the target, times its weight. *)
Definition emits_with_the_weight (drafts : program (forest V)) prefix seen : Prop := forall t w x,
  is_distribution t -> 0 <= w <= 1 ->
  expect drafts (fun F => expect (visit prefix t seen w F) (kept prefix x)) = w * begins t prefix x.

Lemma bare_emits_with_the_weight prefix seen : emits_with_the_weight (Ret Bare) prefix seen.
Proof. by move=> t w x dt' w01; rewrite /= sum_over_enum mulr0 addr0 (sum_begins _ _ _ dt'). Qed.

(** The law of the drafts below a child y, of weight v. *)
Section Child.
Variables (drafts : program (forest V)) (prefix : seq V) (y : V) (v : R).
Hypotheses (vd : valid drafts) (v01 : 0 <= v <= 1).
Hypothesis law : emits_with_the_weight drafts (rcons prefix y) [::].
Notation inside F := (visit (rcons prefix y) (target (rcons prefix y)) [::] v F).

Lemma child_rejected : expect drafts (fun F => expect (inside F) none_found) = 1 - v.
Proof.
rewrite (average_none_found target (rcons prefix y) vd) => [|F]; last exact: visit_valid.
by rewrite (law [::] (dt (rcons prefix y)) v01) mulr1.
Qed.

Lemma child_accepted x : expect drafts (fun F => expect (inside F)
    (fun found => if found is Some emitted then continued prefix (y :: emitted) x else 0))
  = v * (if x is u :: x' then (if y == u then text_chance (rcons prefix y) x' else 0) else 1).
Proof.
case: x => [|u x] /=; first exact: (law [::] (dt (rcons prefix y)) v01).
case: (y == u); last first.
  rewrite mulr0 -[RHS](expect_const 0 vd); apply: expect_eq => F.
  rewrite -[RHS](expect_const 0 (visit_valid (rcons prefix y) [::] F (dt (rcons prefix y)) v01)).
  by apply: expect_eq => [[e|]].
have -> : text_chance (rcons prefix y) x = begins (target (rcons prefix y)) (rcons prefix y) x by case: x.
by rewrite -(law x (dt (rcons prefix y)) v01).
Qed.

End Child.

Lemma siblings_emit_with_the_weight below prefix k seen :
  (forall p, valid (below p)) -> (forall p, emits_with_the_weight (below p) p [::]) ->
  emits_with_the_weight (draft_siblings below prefix k seen) prefix seen.
Proof.
move=> vb lawb; elim: k seen => [|k IH] seen; first exact: bare_emits_with_the_weight.
move=> t w x dt' w01; have /andP[w0 w1] := w01.
rewrite /=; case: eqP => [|/eqP] m0; first exact: bare_emits_with_the_weight.
set d := without prefix seen; have dd' : is_distribution d := without_is_distribution (dd prefix) m0.
pose v y := next_weight w t d y; have v01 y : 0 <= v y <= 1 := child_weight_in01 prefix seen y w0 dt'.
pose Z := weight_after w t d * begins (weighted_residual w t d) prefix x.
transitivity (\sum_y d y
  * (v y * (if x is u :: x' then (if y == u then text_chance (rcons prefix y) x' else 0) else 1) + Z * (1 - v y))).
  rewrite expect_draw; apply: eq_bigr => y _; congr (_ * _).
  have vF := vb (rcons prefix y); rewrite -(child_accepted vF (v01 y) (lawb _)) -(child_rejected vF (v01 y) (lawb _)).
  rewrite expect_bind -expect_scale -expect_add; apply: expect_eq => F.
  rewrite expect_bind [Z * _]mulrC /Z.
  have dr := weighted_residual_is_distribution w d dt'; have wa := weight_after_in01 t d w01.
  have vs : valid (draft_siblings below prefix k (rcons seen y)) by apply: draft_siblings_valid.
  rewrite -(IH (rcons seen y) _ _ x dr wa) -expect_scale -[X in _ = X + _](expect_const _ vs) -expect_add.
  by apply: expect_eq => rest; apply: visit_child.
under eq_bigr => y _ do rewrite mulrDr mulrA (draft_mul_next_weight _ w0 dt' dd') [d y * (Z * _)]mulrCA.
rewrite big_split -mulr_sumr /= (mass_not_kept w0 dt' dd') [Z * _]mulrC /Z mulrA (rejected_mul_weight_after _ _ w1).
case: x {Z} => [|u x] /=.
  under eq_bigr do rewrite mulr1.
  by rewrite !mulr1 -(@overlapE R V (fun v => w * t v) d) [LHS]overlap_add_excess -mulr_sumr dt'.2 mulr1.
rewrite (sum_if_eq (fun y => Num.min (w * t y) (d y)) (fun y => text_chance (rcons prefix y) x)).
by rewrite [RHS]mulrA [left w t d * (_ * _)]mulrA left_mul_residual -mulrDl min_add_positive_part.
Qed.

Lemma forest_emits_with_the_weight depth prefix : emits_with_the_weight (draft_forest depth prefix) prefix [::].
Proof.
elim: depth prefix => [|l IH] prefix; first exact: bare_emits_with_the_weight.
by apply: siblings_emit_with_the_weight => // p; apply: draft_forest_valid.
Qed.

(** At the root something is found, with probability 1. *)
Lemma root_accepts depth prefix :
  expect (draft_forest depth prefix) (fun F => expect (visit prefix (target prefix) [::] 1 F) none_found) = 0.
Proof.
rewrite (average_none_found target prefix (draft_forest_valid _ _)) => [|F]; last exact: visit_valid (all1 R).
by rewrite (forest_emits_with_the_weight depth prefix [::] (dt prefix) (all1 R)) mulr1 subrr.
Qed.

Theorem traversal_is_lossless depth : lossless_block target (traversal depth).
Proof.
move=> prefix; split=> [|x].
  apply: valid_bind => [|F]; first exact: draft_forest_valid.
  by apply: valid_bind => //; apply: visit_valid => //; apply: all1 R.
have law := forest_emits_with_the_weight depth prefix x (dt prefix) (all1 R).
transitivity (begins (target prefix) prefix x); last by case: x {law}.
rewrite -[RHS]mul1r -law -[RHS]addr0 -[X in _ = _ + X](mulr0 (text_chance prefix x)) -(root_accepts depth prefix).
rewrite -expect_scale -expect_add expect_bind; apply: expect_eq => F.
rewrite expect_bind -expect_scale -expect_add; apply: expect_eq => [[e|]] /=; first by rewrite mulr0 addr0.
by rewrite continued_nil mulr1 add0r.
Qed.

End Theorems.
