(** For Theorem 12. The highest of k i.i.d. chains, in any ranking of the tokens after each prefix: its distribution.

    Chains are compared token by token, by rank. Let l be the draft mass of all texts of the length of x that are lower
    than x, and m the draft mass of x: the highest of k chains of that length is x with probability (l + m)^k - l^k. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text chain block selected_chain.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType).

(** Run a program k times. *)
Fixpoint independent (A : Type) (k : nat) (m : program K V A) : program K V (seq A) :=
  if k is k'.+1 then bind m (fun a => bind (independent k' m) (fun rest => Ret (a :: rest))) else Ret [::].

(** [ranked prefix] lists the tokens after a prefix from the lowest to the highest. *)
Variable ranked : seq V -> seq V.

(** Chains are compared token by token; where one ends first, it is the lower. *)
Fixpoint lower (prefix s u : seq V) : bool :=
  match s, u with
  | x :: s', y :: u' =>
      if x == y then lower (rcons prefix x) s' u' else (index x (ranked prefix) < index y (ranked prefix))%N
  | [::], _ :: _ => true
  | _, [::] => false
  end.

Definition higher_of (prefix s u : seq V) : seq V := if lower prefix u s then s else u.
Definition highest (prefix : seq V) (chains : seq (seq V)) : seq V :=
  if chains is s :: rest then foldr (higher_of prefix) s rest else [::].

(** Draw k chains, and select the highest. *)
Definition k_chains (draft : seq V -> V -> K) (k lookahead : nat) (start : seq V) : program K V (seq (seq V)) :=
  independent k (draft_chain draft start lookahead).
Definition select_highest (start : seq V) (chains : seq (seq V)) : program K V (seq V) := Ret (highest start chains).

End Programs.
Arguments lower : simpl never.

Section Theorems.
Variables (R : realFieldType) (V : finType) (draft : seq V -> V -> R) (ranked : seq V -> seq V) (k : nat).
Hypotheses (dd : is_model draft) (k0 : (0 < k)%N) (ranks_all : forall prefix, perm_eq (ranked prefix) (enum V)).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V).
Notation draft_chain := (@draft_chain (of_field R) V draft).
Notation lower := (@lower V ranked).
Notation highest := (@highest V ranked).
Notation draw_highest lookahead :=
  (@selected (of_field R) V _ (@k_chains (of_field R) V draft k lookahead) (@select_highest (of_field R) V ranked)).
Implicit Types (prefix start path x s u : seq V).

(** The order of the chains is total. *)
Lemma lower_transitive prefix s u x : lower prefix s u -> lower prefix u x -> lower prefix s x.
Proof.
elim: s prefix u x => [|v s IH] prefix [|w u] [|y x] //; rewrite /highest.lower -!/(lower _ _ _).
have [->|vw] := eqVneq v w; first by case: (w == y) => //; apply: IH.
have [<-|wy] := eqVneq w y; first by rewrite (negPf vw).
have [->|vy] := eqVneq v y; last exact: ltn_trans.
by move=> h1 h2; have := ltn_trans h1 h2; rewrite ltnn.
Qed.

Lemma ranked_eq prefix v w : index v (ranked prefix) = index w (ranked prefix) -> v = w.
Proof.
have has_all y : y \in ranked prefix by rewrite (perm_mem (ranks_all prefix)) mem_enum.
by move=> /(congr1 (nth v (ranked prefix))); rewrite !nth_index.
Qed.

Lemma lower_total prefix s u : lower prefix s u || lower prefix u s = (s != u).
Proof.
elim: s prefix u => [|v s IH] prefix [|w u] //; rewrite /highest.lower -!/(lower _ _ _) eqseq_cons eq_sym.
have [->|vw] := eqVneq w v; first exact: IH.
rewrite -neq_ltn; apply/negP => /eqP /ranked_eq e; by rewrite e eqxx in vw.
Qed.

Lemma lower_irreflexive prefix s : lower prefix s s = false.
Proof. by elim: s prefix => [|v s IH] prefix //; rewrite /highest.lower -/(lower _ _ _) eqxx. Qed.

Lemma lower_asymmetric prefix s u : lower prefix s u -> lower prefix u s = false.
Proof. by move=> su; apply/negP => us; have := lower_transitive su us; rewrite lower_irreflexive. Qed.

Lemma lower_or prefix s u x : lower prefix s x -> lower prefix s u || lower prefix u x.
Proof.
move=> sx; have [<-|su] := eqVneq s u; first by rewrite sx orbT.
move: su; rewrite -(lower_total prefix) => /orP[->//|us]; by rewrite (lower_transitive us sx) orbT.
Qed.

Lemma highest_lower prefix chains x : (0 < size chains)%N ->
  lower prefix (highest prefix chains) x = all (fun s => lower prefix s x) chains.
Proof.
case: chains => [|s rest] // _ /=; elim: rest => [|u rest IH] /=; first by rewrite andbT.
rewrite andbCA -IH /higher_of; set best := foldr _ _ _; case: ifP => h.
  by case ux: (lower prefix u x) => //=; rewrite (lower_transitive h ux).
case bx: (lower prefix best x); rewrite ?andbF // andbT; apply/esym.
by have := lower_or u bx; rewrite h.
Qed.

Lemma highest_above prefix chains x : (0 < size chains)%N ->
  ~~ lower prefix x (highest prefix chains) = all (fun s => ~~ lower prefix x s) chains.
Proof.
case: chains => [|s rest] // _ /=; elim: rest => [|u rest IH] /=; first by rewrite andbT.
rewrite andbCA -IH /higher_of; set best := foldr _ _ _; case: ifP => h.
  case xb: (lower prefix x best); rewrite ?andbT ?andbF //= (lower_transitive xb h) //.
case xu: (lower prefix x u) => //=.
by have := lower_or best xu; rewrite h orbF => ->.
Qed.

(** k independent runs. *)
Lemma independent_valid (A : Type) (m : program (of_field R) V A) n : valid m -> valid (independent n m).
Proof. by move=> vm; elim: n => [|n IH] //=; apply: valid_bind => // a; apply: valid_bind. Qed.

Lemma chance_all (A : Type) (m : program (of_field R) V A) (event : pred A) n :
  chance (independent n m) (all event) = chance m event ^+ n.
Proof.
elim: n => [|n IH] //; rewrite exprS mulrC /program.chance /= expect_bind -expect_scale; apply: expect_eq => a.
rewrite expect_bind /= -/(chance m event) -IH mulrC -expect_scale; apply: expect_eq => rest /=.
by case: (event a); rewrite /= ?mul1r ?mul0r.
Qed.

Lemma expect_nonempty (A : Type) (m : program (of_field R) V A) n (f g : seq A -> R) : (0 < n)%N ->
  (forall rest, (0 < size rest)%N -> f rest = g rest) -> expect (independent n m) f = expect (independent n m) g.
Proof.
case: n => // n _ fg /=; rewrite !expect_bind; apply: expect_eq => a; rewrite !expect_bind; apply: expect_eq => rest /=.
exact: fg.
Qed.

(** The selected chain is one of them, and no other is above it. *)
Theorem highest_is_the_highest prefix chains : (0 < size chains)%N ->
  highest prefix chains \in chains /\ all (fun s => ~~ lower prefix (highest prefix chains) s) chains.
Proof.
move=> c0; split; last by rewrite -highest_above // lower_irreflexive.
case: chains c0 => [|s rest] // _ /=; elim: rest => [|u rest IH] /=; first by rewrite mem_head.
rewrite /higher_of; case: ifP => _; first by rewrite !inE eqxx orbT.
by move: IH; rewrite !inE => /orP[->//|->]; rewrite !orbT.
Qed.

(** The chance that the first tokens of a drafted chain, as many as x has, are lower than x. *)
Definition mass_below start x : R := chance (draft_chain start (size x)) (fun s => lower start s x).

(** The highest of k chains is x if none is above x, but not all are lower. *)
Lemma highest_points start x :
  chance (draw_highest (size x) start) (pred1 x)
    = (mass_below start x + text_chance draft start x) ^+ k - mass_below start x ^+ k.
Proof.
have -> : mass_below start x + text_chance draft start x
    = chance (draft_chain start (size x)) (fun s => ~~ lower start x s).
  rewrite -draft_chain_points // -expect_add; apply: expect_eq => s /=.
  have := lower_total start s x; have [->|sx] := eqVneq s x; first by rewrite lower_irreflexive add0r.
  case h: (lower start s x) => /=; first by rewrite (lower_asymmetric h) addr0.
  by move=> ->; rewrite addr0.
rewrite -!chance_all -expect_sub /program.chance /selected expect_bind.
apply: expect_nonempty => // chains c0 /=.
rewrite -(highest_above start x c0) -(highest_lower start x c0); set h := highest start chains.
have := lower_total start h x; have [->|hx] := eqVneq h x; first by rewrite lower_irreflexive subr0.
case e: (lower start h x) => /=; first by rewrite (lower_asymmetric e) subrr.
by move=> ->; rewrite subr0.
Qed.

Lemma draw_highest_valid lookahead start : valid (draw_highest lookahead start).
Proof. by apply: valid_bind => //; apply: independent_valid; apply: draft_chain_valid. Qed.

End Theorems.
