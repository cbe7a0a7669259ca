(** Theorem 12, continued. Greedy multi-path block verification (Thomas and Pal) is lossless for every number k of
    chains, any lookahead and any number of rounds.

    Of k i.i.d. chains of the draft the highest is selected: chains are compared token by token, and the tokens after a
    path are ranked by target/draft ascending, ties by index. Let l be the draft mass of all texts of a path's length
    that rank below it, and m the draft mass of the path. The conditionals c of the selected chain, which has the text x
    with probability c(x_1) c(x_2 | x_1) and so on, are computed as the library does, in units of l + m: with
    h(a, b) = b^(k-1) + a b^(k-2) + ... + a^(k-1), here [slope],
      c(x) = d(x) h(a_x, b_x) / h(a, 1),  a = l / (l + m),
      a_x = a + (1 - a) d(ranked below x),  b_x = a_x + (1 - a) d(x).
    The selected chain is verified as a block (Theorem 10) against c in place of the draft.

    The theorems of the section Highest are about any ranking of the tokens after each prefix. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position text chain block selected_chain highest.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V) (target draft : seq V -> V -> K).
Local Open Scope numbers_scope.

Section Ranking.
Variables (ranked : seq V -> seq V) (k : nat).

(** The mass of the tokens that a list has before v. *)
Fixpoint mass_before (m : V -> K) (s : seq V) (v : V) : K :=
  if s is u :: s' then if u == v then zero else m u + mass_before m s' v else zero.
Definition draft_below (prefix : seq V) (v : V) : K := mass_before (draft prefix) (ranked prefix) v.

(** The draft mass ranked below a path, and that of the path, in units of their sum: they start as 0 and 1,
    and start again behind a path where both would be 0; no chain takes it. *)
Fixpoint shares (prefix : seq V) (below mass : K) (path : seq V) : K * K :=
  if path is x :: rest then
    let lower := below + mass * draft_below prefix x in
    let own := mass * draft prefix x in
    if is_zero (lower + own) then shares (rcons prefix x) zero one rest
    else shares (rcons prefix x) (lower / (lower + own)) (own / (lower + own)) rest
  else (below, mass).

(** The next token of the highest of k chains that start at [start], given that the chain begins so. *)
Definition highest_row (prefix : seq V) (below mass : K) (x : V) : K :=
  let lower := below + mass * draft_below prefix x in
  draft prefix x * slope lower (lower + mass * draft prefix x) k / slope below one k.
Definition highest_law (start prefix : seq V) : V -> K :=
  let: (below, mass) := shares start zero one (drop (size start) prefix) in highest_row prefix below mass.

Definition highest_block (lookahead : nat) : seq V -> program K V (seq V) :=
  selected_block tokens target (k_chains draft k lookahead) (@select_highest K V ranked) highest_law.

End Ranking.

(** The tokens after a prefix by target/draft ascending, ties by index: the sort is stable. A token that the draft
    cannot draw may be anywhere. *)
Definition by_ratio (prefix : seq V) : seq V :=
  sort (fun x y => at_most (target prefix x / draft prefix x) (target prefix y / draft prefix y)) tokens.

(** Greedy multi-path block verification. *)
Definition multi_path (k lookahead : nat) : seq V -> program K V (seq V) := highest_block by_ratio k lookahead.

End Programs.
Arguments highest_row : simpl never.

Section Highest.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R) (ranked : seq V -> seq V) (k : nat).
Hypotheses (dt : is_model target) (dd : is_model draft) (k0 : (0 < k)%N).
Hypothesis ranks_all : forall prefix, perm_eq (ranked prefix) (enum V).
Local Open Scope ring_scope.
Notation chance := (@chance (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V).
Notation mass_below := (@mass_below R V draft ranked).
Notation draft_below := (@draft_below (of_field R) V draft ranked).
Notation shares := (@shares (of_field R) V draft ranked).
Notation slope := (@slope (of_field R)).
Notation highest_row := (@highest_row (of_field R) V draft ranked k).
Notation highest_law := (@highest_law (of_field R) V draft ranked k).
Notation draw_highest lookahead :=
  (@selected (of_field R) V _ (@k_chains (of_field R) V draft k lookahead) (@select_highest (of_field R) V ranked)).
Notation highest_block := (@highest_block (of_field R) V (enum V) target draft ranked k).
Implicit Types (prefix start path x s u : seq V) (v : V) (a b : R).

Lemma sum_before (m : V -> R) (s : seq V) v : uniq s ->
  \sum_(y <- s) m y * (if (index y s < index v s)%N then 1 else 0) = mass_before (K := of_field R) m s v.
Proof.
elim: s => [|u s IH] /=; first by rewrite big_nil.
move=> /andP[us uniq_s]; rewrite big_cons eqxx; case: (u == v).
  by rewrite mulr0 add0r big1 // => y _; rewrite mulr0.
rewrite mulr1 -(IH uniq_s); congr (_ + _); apply: eq_big_seq => y ys.
by case: eqP us => [->|_]; rewrite ?ys.
Qed.

Lemma ranked_uniq prefix : uniq (ranked prefix).
Proof. by rewrite (perm_uniq (ranks_all prefix)) enum_uniq. Qed.

Lemma sum_ranked prefix (f : V -> R) : \sum_(y <- ranked prefix) f y = \sum_y f y.
Proof. by rewrite (perm_big _ (ranks_all prefix)) big_enum. Qed.

Lemma mass_below_cons prefix v x :
  mass_below prefix (v :: x) = draft_below prefix v + draft prefix v * mass_below (rcons prefix v) x.
Proof.
rewrite /multi_path.draft_below -sum_before ?ranked_uniq // sum_ranked.
rewrite -(sum_if_eq (draft prefix) (fun y => mass_below (rcons prefix y) x)) -big_split /=.
rewrite /highest.mass_below /program.chance /= sum_over_enum; apply: eq_bigr => y _; rewrite -mulrDr; congr (_ * _).
rewrite expect_bind /highest.lower -!/(lower _ _ _) /=; have [->|yv] := eqVneq y v; first by rewrite ltnn add0r.
by rewrite addr0 expect_const //; apply: draft_chain_valid.
Qed.

(** Sums of differences along a list. *)
Lemma telescope (G : R -> R) (m : V -> R) (s : seq V) c : uniq s ->
  \sum_(v <- s) (G (c + mass_before (K := of_field R) m s v + m v) - G (c + mass_before (K := of_field R) m s v))
    = G (c + \sum_(v <- s) m v) - G c.
Proof.
elim: s c => [|u s IH] c /=; first by rewrite !big_nil addr0 subrr.
move=> /andP[us uniq_s]; rewrite !big_cons eqxx addr0.
transitivity ((G (c + m u) - G c) + (G (c + m u + \sum_(v <- s) m v) - G (c + m u))); last first.
  by rewrite addrC [LHS]addrA subrK addrA.
congr (_ + _); rewrite -(IH _ uniq_s); apply: eq_big_seq => v vs.
by case: eqP us => [->|_]; rewrite ?vs // addrA.
Qed.

Lemma slope_gt0 a : 0 <= a -> 0 < slope a 1 k.
Proof.
move=> a0; have ge0 n : 0 <= slope a 1 n by elim: n => //= n IH; rewrite powerE expr1n addr_ge0 ?mulr_ge0 ?ler01.
by move: k0; case: (k) => // n _ /=; rewrite powerE expr1n ltr_paddr ?mulr_ge0 ?ltr01.
Qed.

Lemma draft_below_ge0 prefix v : 0 <= (draft_below prefix v : R).
Proof.
rewrite /multi_path.draft_below; elim: (ranked prefix) => [|u s IH] //=; case: (u == v) => //.
by rewrite addr_ge0 ?(dd prefix).1.
Qed.

(** The shares of a path: two numbers from 0 on that sum to 1. *)
Definition are_shares (ab : R * R) : Prop := [/\ 0 <= ab.1, 0 <= ab.2 & ab.1 + ab.2 = 1].

Lemma shares_are_shares prefix a b path : are_shares (a, b) -> are_shares (shares prefix a b path).
Proof.
elim: path prefix a b => [|v path IH] prefix a b //= [/= a0 b0 ab1].
set l := (a + b * draft_below prefix v : R); set o := (b * draft prefix v : R).
have l0 : 0 <= l by rewrite addr_ge0 // mulr_ge0 ?draft_below_ge0.
have o0 : 0 <= o by rewrite mulr_ge0 // (dd prefix).1.
case: eqP => [_|/eqP lo]; apply: IH; first by split; rewrite /= ?lexx ?ler01 ?add0r.
have s0 : 0 <= l + o by apply: addr_ge0.
by split=> /=; [exact: divr_ge0 | exact: divr_ge0 | rewrite -mulrDl divff].
Qed.

Lemma shares_rcons prefix a b path v :
  shares prefix a b (rcons path v) = let: (a', b') := shares prefix a b path in shares (prefix ++ path) a' b' [:: v].
Proof.
elim: path prefix a b => [|u path IH] prefix a b; first by rewrite cats0.
by rewrite rcons_cons -cat_rcons /=; case: (_ == 0); rewrite IH.
Qed.

(** The chance of a path times that of its next token, in units of the mass of the path and of all below it. *)
Lemma highest_row_mul prefix a b v : are_shares (a, b) ->
  (1 - a ^+ k) * highest_row prefix a b v
    = (a + b * draft_below prefix v + b * draft prefix v) ^+ k - (a + b * draft_below prefix v) ^+ k.
Proof.
move=> [/= a0 b0 ab1]; have b1 : b = 1 - a by rewrite -ab1 addrC addKr.
set l := a + _; rewrite -slopeE [l + _]addrC addrK -[X in X - a ^+ k](expr1n _ k) -slopeE -b1.
rewrite /multi_path.highest_row /= -/l -!mulrA; congr (b * _); rewrite mulrCA; congr (_ * _).
by rewrite mulrCA divff ?mulr1 1?addrC // gt_eqF ?slope_gt0.
Qed.

Lemma highest_row_is_distribution prefix a b : are_shares (a, b) -> is_distribution (highest_row prefix a b).
Proof.
move=> ab; have [/= a0 b0 ab1] := ab.
have mixed_ge0 (y z : R) n : 0 <= y -> 0 <= z -> 0 <= (slope y z n : R).
  by move=> y0 z0; elim: n => //= n IH; rewrite powerE addr_ge0 ?exprn_ge0 ?mulr_ge0.
split=> [v|].
  have l0 : 0 <= a + b * draft_below prefix v by rewrite addr_ge0 // mulr_ge0 ?draft_below_ge0.
  have o0 : 0 <= b * draft prefix v by rewrite mulr_ge0 // (dd prefix).1.
  apply: divr_ge0; last by apply: mixed_ge0; rewrite ?ler01.
  by apply: mulr_ge0; [apply: (dd prefix).1 | apply: mixed_ge0; [exact: l0 | exact: addr_ge0]].
move: b0; rewrite le_eqVlt => /predU1P[b0|b0].
  rewrite -b0 addr0 in ab1; rewrite -(dd prefix).2; apply: eq_bigr => v _.
  rewrite /multi_path.highest_row /= -b0 ab1 !mul0r !addr0.
  by rewrite -mulrA divff ?mulr1 // gt_eqF ?slope_gt0 ?ler01.
have c0 : 1 - a ^+ k != 0.
  rewrite -[X in X - _](expr1n _ k) -slopeE mulf_neq0 //; last by rewrite gt_eqF ?slope_gt0.
  by rewrite -ab1 addrC addKr gt_eqF.
apply: (mulfI c0); rewrite mulr1 mulr_sumr -(sum_ranked prefix).
transitivity (\sum_(v <- ranked prefix) ((a + b * (0 + draft_below prefix v + draft prefix v)) ^+ k
    - (a + b * (0 + draft_below prefix v)) ^+ k)).
  by apply: eq_bigr => v _; rewrite highest_row_mul // add0r mulrDr addrA.
rewrite (telescope (fun z => (a + b * z) ^+ k) (draft prefix) 0 (ranked_uniq prefix)).
by rewrite sum_ranked (dd prefix).2 add0r mulr0 addr0 mulr1 ab1 expr1n.
Qed.

Lemma start_shares : are_shares (0, 1).
Proof. by split; rewrite /= ?lexx ?ler01 ?add0r. Qed.

Lemma highest_law_is_model start : is_model (highest_law start).
Proof.
move=> prefix; rewrite /multi_path.highest_law.
have := shares_are_shares start (drop (size start) prefix) start_shares.
by case: (shares _ _ _ _) => a b; apply: highest_row_is_distribution.
Qed.

Lemma highest_law_text start path x : let: (a, b) := shares start 0 1 path in
  (1 - a ^+ k) * text_chance (highest_law start) (start ++ path) x
    = (a + b * mass_below (start ++ path) x + b * text_chance draft (start ++ path) x) ^+ k
      - (a + b * mass_below (start ++ path) x) ^+ k.
Proof.
elim: x path => [|v x IH] path; have := shares_are_shares start path start_shares;
  case e: (shares _ _ _ _) => [a b] ab; have [/= a0 b0 ab1] := ab.
  have -> : mass_below (start ++ path) [::] = 0 by [].
  by rewrite /= mulr1 mulr0 addr0 mulr1 ab1 expr1n.
rewrite mass_below_cons /= {1}/multi_path.highest_law drop_size_cat // e mulrA highest_row_mul //.
move: (IH (rcons path v)); rewrite shares_rcons e /= -!rcons_cat.
set l := a + _; set o := b * draft (start ++ path) v.
set F := mass_below _ x; set T := text_chance draft _ x; set S := text_chance _ _ x.
have -> : a + b * (draft_below (start ++ path) v + draft (start ++ path) v * F) = l + o * F.
  by rewrite mulrDr addrA mulrA.
have -> : b * (draft (start ++ path) v * T) = o * T by rewrite mulrA.
have l0 : 0 <= l by rewrite addr_ge0 // mulr_ge0 ?draft_below_ge0.
have o0 : 0 <= o by rewrite mulr_ge0 // (dd _).1.
clearbody l o; case: eqP => [/eqP|/eqP lo].
  rewrite paddr_eq0 // => /andP[/eqP-> /eqP->] _; by rewrite !mul0r !addr0 subrr mul0r.
have [el eo] : (l + o) * l / (l + o) = l /\ (l + o) * o / (l + o) = o by split; rewrite mulrC mulKf.
move/(congr1 (fun z => (l + o) ^+ k * z)); rewrite mulrA !mulrBr mulr1 -!exprMn !mulrDr !mulrA el eo => ->.
by [].
Qed.

(** The chain that is selected has the conditionals [highest_law]. *)
Theorem selection_of_the_highest lookahead start x : size x = lookahead ->
  chance (draw_highest lookahead start) (pred1 x) = text_chance (highest_law start) start x.
Proof.
move=> <-; have := highest_law_text start [::] x; rewrite /= cats0 expr0n !mul1r add0r eqn0Ngt k0 subr0 mul1r => ->.
exact: highest_points.
Qed.

Theorem highest_block_is_lossless lookahead : lossless_block target (highest_block lookahead).
Proof.
have vh start : valid (draw_highest lookahead start) by apply: draw_highest_valid.
apply: (@selected_chain_is_lossless _ _ _ dt _ _ _ vh _ lookahead) => [start|start x].
  exact: highest_law_is_model.
exact: selection_of_the_highest.
Qed.

End Highest.

Section MultiPath.
Variables (R : realFieldType) (V : finType) (target draft : seq V -> V -> R) (k : nat).
Hypotheses (dt : is_model target) (dd : is_model draft) (k0 : (0 < k)%N).
Local Open Scope ring_scope.
Notation by_ratio := (@by_ratio (of_field R) V (enum V) target draft).
Notation multi_path := (@multi_path (of_field R) V (enum V) target draft).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation text_chance := (@text_chance (of_field R) V).
Notation ratio prefix v := (target prefix v / draft prefix v).

Lemma by_ratio_ranks_all prefix : perm_eq (by_ratio prefix) (enum V).
Proof. by rewrite /multi_path.by_ratio perm_sort. Qed.

(** The tokens are ranked by target/draft ascending, ties by index. *)
Theorem by_ratio_ranks prefix x y : (index x (by_ratio prefix) < index y (by_ratio prefix))%N
  = (ratio prefix x < ratio prefix y) || (ratio prefix x == ratio prefix y) && (index x (enum V) < index y (enum V))%N.
Proof.
set before := fun x y => (ratio prefix x < ratio prefix y)
  || (ratio prefix x == ratio prefix y) && (index x (enum V) < index y (enum V))%N.
have trans : transitive before.
  move=> w u v; rewrite /before => /orP[uw|/andP[/eqP-> iuw]] /orP[wv|/andP[/eqP<- iwv]].
  - by rewrite (lt_trans uw wv).
  - by rewrite uw.
  - by rewrite wv.
  by rewrite eqxx (ltn_trans iuw iwv) orbT.
have has_all v : v \in by_ratio prefix by rewrite (perm_mem (by_ratio_ranks_all prefix)) mem_enum.
have ordered : sorted before (by_ratio prefix).
  have total_le : total (fun u v => at_most (K := of_field R) (ratio prefix u) (ratio prefix v)).
    by move=> u v; rewrite !at_mostE le_total.
  have by_index : pairwise (fun u v => index u (enum V) < index v (enum V))%N (enum V).
    apply/(pairwiseP x) => i j; rewrite !inE => hi hj ij; by rewrite !index_uniq ?enum_uniq.
  apply: sub_sorted (sort_pairwise_stable total_le by_index) => u v /=.
  rewrite !at_mostE /before le_eqVlt orbC => /andP[/orP[->//|/eqP e]]; by rewrite e lexx eqxx /= => ->; rewrite orbT.
rewrite -[RHS]/(before x y); apply/idP/idP => [xy|xy].
  exact: (sorted_ltn_index trans ordered x y (has_all x) (has_all y) xy).
rewrite ltnNge; apply/negP; rewrite leq_eqVlt => /orP[/eqP same|yx].
  have e : y = x by rewrite -(nth_index x (has_all y)) same nth_index.
  by move: xy; rewrite e /before ltxx ltnn andbF.
have := trans _ _ _ xy (sorted_ltn_index trans ordered y x (has_all y) (has_all x) yx).
by rewrite /before ltxx ltnn andbF.
Qed.

Theorem selection_of_multi_path lookahead start x : size x = lookahead ->
  let draw_highest := selected (k_chains (K := of_field R) draft k lookahead) (select_highest (of_field R) by_ratio) in
  chance (draw_highest start) (pred1 x)
    = text_chance (highest_law (K := of_field R) draft by_ratio k start) start x.
Proof. exact: selection_of_the_highest dd k0 by_ratio_ranks_all _ _ _. Qed.

Theorem multi_path_is_lossless lookahead : lossless_block target (multi_path k lookahead).
Proof. exact: highest_block_is_lossless dt dd k0 by_ratio_ranks_all lookahead. Qed.

End MultiPath.
