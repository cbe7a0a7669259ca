(** Theorem 12. One chain, selected from the drafts by any rule and verified as a block, is lossless.

    The drafts are of any kind (k i.i.d. chains, a tree), drawn by any program; a rule, which may flip coins, selects
    one chain of a fixed length from them. Let c be conditionals of the selected chain: for every text x of that length,
    the selected chain is x with probability c(x_1) c(x_2 | x_1) c(x_3 | x_1 x_2) and so on. Block verification
    (Theorem 10) of the selected chain, with c in place of the draft, is then lossless, for any lookahead and any number
    of rounds.

    No rule is left out: a selected chain of a fixed length always has such conditionals, those of its own
    distribution. So every rule is lossless with the conditionals of its own selection. *)
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

(** The conditionals that the selected chain has: the chance that it begins with the path and v, over the chance that it
    begins with the path and goes on. A path that it never takes and goes on from may have any: the target's. *)
Fixpoint begins_with (path s : seq V) : bool :=
  match path, s with
  | [::], _ => true
  | v :: path', y :: s' => (y == v) && begins_with path' s'
  | _, _ => false
  end.
Definition goes_on (path s : seq V) : bool := begins_with path s && (size path < size s)%N.
Definition conditionals (start prefix : seq V) : V -> K :=
  let path := drop (size start) prefix in
  let reached := chance tokens (selected start) (goes_on path) in
  if is_zero reached then target prefix
  else fun v => chance tokens (selected start) (begins_with (rcons path v)) / reached.

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
Notation verify_block := (@verify_block (of_field R) V (enum V) target).

(** What has no chance adds nothing to an expectation. *)
Lemma expect_of_no_chance (A : Type) (m : program A) (g f : A -> R) :
  valid m -> (forall a, 0 <= g a) -> expect m g = 0 -> expect m (fun a => g a * f a) = 0.
Proof.
move=> + g0; have pos n : valid n -> 0 <= expect n g by move=> vn; rewrite -(expect_const 0 vn); apply: expect_le.
elim: m => [a|p yes IHyes no IHno|masses next IH] /=; first by move=> _ ->; rewrite mul0r.
  move=> [/andP[p0 p1] [vyes vno]].
  have q0 : 0 <= 1 - p by rewrite subr_ge0.
  have yes0 : 0 <= p * expect yes g.
    by move: p0; rewrite le_eqVlt => /predU1P[<-|pp]; [rewrite mul0r | apply: mulr_ge0; [exact: ltW | exact/pos/vyes]].
  have no0 : 0 <= (1 - p) * expect no g.
    by move: p1; rewrite le_eqVlt => /predU1P[->|pp]; [rewrite subrr mul0r | apply: mulr_ge0; [by [] | exact/pos/vno]].
  move/eqP; rewrite paddr_eq0 // !mulf_eq0 => /andP[hy hn].
  have -> : p * expect yes (fun a => g a * f a) = 0.
    move: p0; rewrite le_eqVlt => /predU1P[<-|pp]; first by rewrite mul0r.
    by rewrite IHyes ?mulr0 //; [apply: vyes | move: hy; rewrite gt_eqF //= => /eqP].
  move: p1; rewrite add0r le_eqVlt => /predU1P[->|pp]; first by rewrite subrr mul0r.
  by rewrite IHno ?mulr0 //; [apply: vno | move: hn; rewrite subr_eq0 gt_eqF //= => /eqP].
rewrite !sum_over_enum => [[[m0 _] vnext]] total; apply: big1 => v _.
move: (m0 v); rewrite le_eqVlt => /predU1P[<-|mv]; first by rewrite mul0r.
have term w : true -> 0 <= (masses w : R) * expect (next w) g.
  move: (m0 w); rewrite le_eqVlt => /predU1P[<-|mw] _; first by rewrite mul0r.
  by apply: mulr_ge0; [exact: ltW | exact/pos/vnext].
have /(_ v isT)/eqP := psumr_eq0P term total; rewrite mulf_eq0 gt_eqF //= => /eqP e0.
by rewrite IH ?mulr0 //; apply: vnext.
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
Notation conditionals := (@conditionals (of_field R) V (enum V) target D drafts select).
Implicit Types (start path s x : seq V) (v : V).
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

(** Every selected chain of a fixed length has conditionals. *)
Lemma expect_almost_surely (A : Type) (m : program A) (event : pred A) (f g : A -> R) :
  valid m -> chance m event = 1 -> (forall a, event a -> f a = g a) -> expect m f = expect m g.
Proof.
move=> vm sure fg; apply/eqP; rewrite -subr_eq0 -expect_sub; apply/eqP.
transitivity (expect m (fun a => (1 - (if event a then 1 else 0)) * (f a - g a))).
  by apply: expect_eq => a; case ea: (event a); rewrite ?subr0 ?mul1r // subrr mul0r fg // subrr.
apply: (@expect_of_no_chance _ _ (fun a => 1 - (if event a then 1 else 0))) => // [a|].
  by case: (event a); rewrite ?subrr ?subr0 ?ler01.
by rewrite expect_sub (expect_const _ vm) -[X in _ - X]/(chance m event) sure subrr.
Qed.

Lemma begins_with_rcons path v s : begins_with (rcons path v) s -> goes_on path s.
Proof.
elim: path s => [|u path IH] [|y s] //= /andP[yu /IH]; by rewrite /goes_on /= yu.
Qed.

Lemma sum_begins_with path s :
  \sum_v (if begins_with (rcons path v) s then 1 else 0) = if goes_on path s then 1 else 0 :> R.
Proof.
elim: path s => [|u path IH] [|y s] /=; try by apply: big1.
  by rewrite -[RHS](sum_indicator (fun=> 1) y); apply: eq_bigr => v _; rewrite andbT eq_sym mul1r.
rewrite /goes_on /=; case: (y == u) => /=; [exact: IH | exact: big1].
Qed.

Lemma begins_with_size path s : size s = size path -> begins_with path s = (s == path).
Proof. by elim: path s => [|v path IH] [|y s] //= [/IH ->]; rewrite eqseq_cons. Qed.

Lemma chance_ge0 (A : Type) (m : program A) (event : pred A) : valid m -> 0 <= chance m event.
Proof. by move=> vm; rewrite -(expect_const 0 vm); apply: expect_le => // a; case: (event a); rewrite ?ler01. Qed.

Lemma sum_chances start path :
  \sum_v chance (selected start) (begins_with (rcons path v)) = chance (selected start) (goes_on path).
Proof. by rewrite -expect_sum; apply: expect_eq => s; apply: sum_begins_with. Qed.

Lemma conditionals_mul start path v :
  chance (selected start) (goes_on path) * conditionals start (start ++ path) v
    = chance (selected start) (begins_with (rcons path v)).
Proof.
rewrite /selected_chain.conditionals drop_size_cat //=; case: eqP => [e0|/eqP e0]; last by rewrite mulrC divfK.
rewrite e0 mul0r; apply/esym.
have nonneg w : true -> 0 <= chance (selected start) (begins_with (rcons path w)) by move=> _; apply: chance_ge0.
by apply: (psumr_eq0P nonneg); rewrite // sum_chances.
Qed.

Lemma conditionals_are_a_model start : is_model (conditionals start).
Proof.
move=> prefix; rewrite /selected_chain.conditionals /=; case: eqP => [_|/eqP e0]; first exact: dt.
split=> [v|]; first by apply: divr_ge0; apply: chance_ge0.
by rewrite -mulr_suml sum_chances divff.
Qed.

Section FixedLength.
Variable lookahead : nat.
Hypothesis of_length : forall start, chance (selected start) (fun s => size s == lookahead) = 1.

Lemma conditionals_of_the_selected_chain start path x : (size path + size x)%N = lookahead ->
  chance (selected start) (begins_with path) * text_chance (conditionals start) (start ++ path) x
    = chance (selected start) (begins_with (path ++ x)).
Proof.
elim: x path => [|v x IH] path /= sx; first by rewrite mulr1 cats0.
have -> : chance (selected start) (begins_with path) = chance (selected start) (goes_on path).
  apply: (expect_almost_surely (select_valid start) (of_length start)) => s /eqP ss.
  by rewrite /goes_on ss -sx addnS ltnS leq_addr andbT.
rewrite mulrA conditionals_mul rcons_cat -cat_rcons; apply: IH; by rewrite size_rcons addSnnS.
Qed.

Theorem any_selected_chain_is_lossless : lossless_block target (selected_block conditionals).
Proof.
apply: (selected_chain_is_lossless (lookahead := lookahead)) => [|start x sx]; first exact: conditionals_are_a_model.
have law := @conditionals_of_the_selected_chain start [::] x sx.
have all1 : chance (selected start) (begins_with [::]) = 1 by exact: expect_const.
move: law; rewrite all1 cats0 mul1r => ->.
apply: (expect_almost_surely (select_valid start) (of_length start)) => s /eqP ss.
by rewrite begins_with_size ?ss ?sx.
Qed.

End FixedLength.

End Theorems.
