(** Theorem 7, first part. The pool rule: how a draft is put forward, and with which law.

    Every token has a rank, a number; tokens of one rank form a pool. The pool rule takes the highest pool that holds
    one of k i.i.d. drafts, and one of the drafts in it, each INDEX alike. It puts the token y forward with probability
    d(y) (b^k - a^k)/(b - a), where a is the draft mass below the pool of y, and b the mass up to and with it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).
Local Open Scope numbers_scope.
Implicit Types (rank : V -> K) (drafts : seq V).

Definition greatest_of (I : Type) (s : seq I) (f : I -> K) (start : K) : K :=
  foldr (fun i m => greatest (f i) m) start s.
Definition mass (m : V -> K) (H : pred V) : K := sum_over tokens (fun v => if H v then m v else zero).
Definition natural (n : nat) : K := iter n (add one) zero.

Variables (d : V -> K) (k : nat).

(** One member of a list, each index alike; a draw from d if there is none, which k >= 1 drafts exclude. *)
Fixpoint pick (xs : seq V) : program K V V :=
  if xs is x :: ys then Flip (one / natural (size xs)) (Ret x) (pick ys) else Draw d Ret.

(** The drafts, by index, above which there is no draft. *)
Definition hits rank drafts : seq V :=
  filter (fun x => all (fun y => at_most (rank y) (rank x)) drafts) drafts.

Definition pool_rule rank drafts : program K V V := pick (hits rank drafts).

Definition up_to rank (y : V) : K := mass d (fun v => at_most (rank v) (rank y)).
Definition below rank (y : V) : K := mass d (fun v => ~~ at_most (rank y) (rank v)).
Definition pool_slope rank (y : V) : K := slope (below rank y) (up_to rank y) k.

End Programs.
Arguments natural : simpl never.
Arguments pick : simpl never.
Arguments pool_rule : simpl never.
Arguments pool_slope : simpl never.

Section Numbers.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation greatest_of := (@greatest_of (of_field R)).

Lemma greatest_of_start (I : Type) (s : seq I) (f : I -> R) start : start <= greatest_of s f start.
Proof. by elim: s => //= i s IH; rewrite le_maxr IH orbT. Qed.

Lemma greatest_of_ge (I : eqType) (s : seq I) (f : I -> R) start i : i \in s -> f i <= greatest_of s f start.
Proof.
elim: s => //= j s IH; rewrite inE => /predU1P[->|/IH h]; first by rewrite le_maxr lexx.
by rewrite le_maxr h orbT.
Qed.

Lemma greatest_of_attained (I : Type) (s : seq I) (f : I -> R) start :
  greatest_of s f start = start \/ exists i, greatest_of s f start = f i.
Proof.
elim: s => [|j s IH] /=; first by left.
by case: (leP (f j) (greatest_of s f start)) => _; [exact: IH | right; exists j].
Qed.

Lemma greatest_of_eq (I : Type) (s : seq I) (f g : I -> R) start :
  f =1 g -> greatest_of s f start = greatest_of s g start.
Proof. by move=> fg; elim: s => //= i s ->; rewrite fg. Qed.

Lemma greatest_ofE (I : Type) (s : seq I) (f : I -> R) start :
  greatest_of s f start = \big[Num.max/start]_(i <- s) f i.
Proof. by elim: s => [|i s IH] /=; rewrite ?big_nil // big_cons IH. Qed.

Lemma sub_sub (a b c e : R) : (a - b) - (c - e) = (a - c) - (b - e).
Proof. by rewrite !opprD !opprK addrACA. Qed.

Lemma massE (m : V -> R) (H : pred V) : @mass (of_field R) V (enum V) m H = \sum_(v | H v) m v.
Proof. by rewrite /mass sum_over_enum [RHS]big_mkcond. Qed.

Lemma naturalE n : @natural (of_field R) n = n%:R.
Proof. by elim: n => // n IH; rewrite mulrS -IH. Qed.

Lemma slope_monotone (a b a' b' : R) n : 0 <= a <= a' -> 0 <= b <= b' ->
  0 <= @slope (of_field R) a b n <= @slope (of_field R) a' b' n.
Proof.
move=> /andP[a0 aa] /andP[b0 bb]; elim: n => [|n /andP[s0 ss]] /=; first by rewrite lexx.
rewrite !powerE addr_ge0 ?exprn_ge0 ?mulr_ge0 //= ler_add ?ler_pmul //.
by rewrite ler_expn2r // nnegrE // (le_trans b0).
Qed.

End Numbers.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Notation expect := (@expect (of_field R) V (enum V) _).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation law := (@law (of_field R) V (enum V) _).
Notation draw_independent := (@draw_independent (of_field R) V).
Variables (d : V -> R) (dd : is_distribution d) (k : nat) (k0 : (0 < k)%N).
Notation pick := (@pick (of_field R) V d).
Notation hits := (@hits (of_field R) V).
Notation pool_rule := (@pool_rule (of_field R) V d).
Notation pool_slope := (@pool_slope (of_field R) V (enum V) d k).
Implicit Types (rank : V -> R) (S : seq V) (y : V).

Lemma expect_draws n (f : seq V -> R) : expect (draw_independent d n.+1) f
  = \sum_x d x * expect (draw_independent d n) (fun xs => f (x :: xs)).
Proof. by rewrite /= sum_over_enum; apply: eq_bigr => x _; rewrite expect_bind. Qed.

(** Independent drafts all lie in a set with the power of its draft mass. *)
Lemma chance_of_drafts_within n (H : pred V) :
  chance (draw_independent d n) (fun S => all H S) = (\sum_(v | H v) d v) ^+ n.
Proof.
rewrite /program.chance; elim: n => // n IH; rewrite expect_draws exprS mulr_suml [RHS]big_mkcond.
apply: eq_bigr => x _ /=; case: (H x); first by rewrite -IH.
by rewrite (expect_const 0 (draw_independent_valid n dd)) mulr0.
Qed.

Lemma pick_uniform xs (f : V -> R) : (size xs)%:R * expect (pick xs) f = \sum_(x <- xs) f x.
Proof.
elim: xs => [|x ys IH]; first by rewrite mul0r big_nil.
rewrite big_cons -IH [expect _ _]/= naturalE -/(pick ys).
have n0 : ((size ys).+1)%:R != 0 :> R by rewrite pnatr_eq0.
rewrite mulrDr mulrA mul1r mulfV // mul1r; congr (_ + _).
rewrite mulrA mulrBr mulr1 mulfV //; congr (_ * _).
by rewrite mulrSr addrK.
Qed.

Lemma pick_valid xs : valid (pick xs).
Proof.
elim: xs => [|x ys IH]; first by split.
split; last by split=> // _.
by rewrite naturalE /= mul1r invr_ge0 ler0n invf_le1 ?ltr0n // ler1n.
Qed.

Lemma pick_of_one_value xs (f : V -> R) c : xs != [::] -> {in xs, forall x, f x = c} -> expect (pick xs) f = c.
Proof.
move=> xs0 fc; have n0 : (size xs)%:R != 0 :> R by rewrite pnatr_eq0 size_eq0.
apply: (mulfI n0); rewrite pick_uniform (eq_big_seq (fun=> c)) // big_const_seq count_predT.
by rewrite iter_addr_0 mulr_natl.
Qed.

Lemma hitsE rank S : hits rank S = filter (fun x => all (fun y => rank y <= rank x) S) S.
Proof. by apply: eq_filter => x; apply: eq_all => y; rewrite at_mostE. Qed.

Lemma hits_nonempty rank S : S != [::] -> hits rank S != [::].
Proof.
case: S => // x xs _; rewrite hitsE.
case: (@Order.TotalTheory.arg_maxP _ _ _ x (mem (x :: xs)) rank (mem_head x xs)) => z zS top.
suff : z \in filter (fun x' => all (fun y => rank y <= rank x') (x :: xs)) (x :: xs) by case: (filter _ _).
rewrite mem_filter; apply/andP; split=> //; apply/allP => v; exact: top.
Qed.

(** The drafts of A in the pool of y, weighed with a function of the number of drafts in the pool, if none is above. *)
Definition counted rank (w : nat -> R) y (A : pred V) S : R :=
  if all (fun v => rank v <= rank y) S then (count A S)%:R * w (count (fun v => rank v == rank y) S) else 0.

Lemma pick_of_hits rank y S : S != [::] ->
  expect (pick (hits rank S)) (fun v => if v == y then 1 else 0) = counted rank (fun n => n%:R^-1) y (pred1 y) S.
Proof.
move=> S0; have h0 : (size (hits rank S))%:R != 0 :> R by rewrite pnatr_eq0 size_eq0 hits_nonempty.
apply: (mulfI h0); rewrite pick_uniform.
have -> : \sum_(x <- hits rank S) (if x == y then 1 else 0) = (count_mem y (hits rank S))%:R :> R.
  by rewrite -big_mkcond big_const_seq iter_addr_0.
have -> : count_mem y (hits rank S) = if all (fun v => rank v <= rank y) S then count_mem y S else 0%N.
  rewrite hitsE count_filter; case: ifP => top; last first.
    by rewrite -(count_pred0 S); apply: eq_count => x /=; case: eqP => // ->; rewrite top.
  by apply: eq_count => x /=; case: eqP => // ->; rewrite top.
rewrite /counted; case: ifP => top; last by rewrite mulr0.
have [yS|/count_memPn->] := boolP (y \in S); last by rewrite mul0r mulr0.
have -> : count (fun v => rank v == rank y) S = size (hits rank S).
  rewrite hitsE size_filter; apply: eq_in_count => x xS; apply/eqP/allP => [-> v|h]; first exact: (allP top).
  by apply: le_anti; rewrite h // (allP top).
by rewrite mulrCA mulfV // mulr1.
Qed.

Notation in_pool rank y := (fun v => rank v == rank y).
Notation mass_up_to rank y := (\sum_(v | rank v <= rank y) d v).
Notation mass_below rank y := (\sum_(v | rank v < rank y) d v).

(** Seen from the pool of y, its tokens differ in their masses only. *)
Lemma counted_in_proportion rank y n (w : nat -> R) : exists J : R, forall A : pred V,
  (forall v, A v -> rank v = rank y) -> expect (draw_independent d n) (counted rank w y A) = (\sum_(v | A v) d v) * J.
Proof.
elim: n w => [|n IH] w; first by exists 0 => A _; rewrite /= /counted /= mul0r mulr0.
have [J0 F0] := IH w; have [J1 F1] := IH (fun m => w m.+1).
pose Z := expect (draw_independent d n)
  (fun S => if all (fun v => rank v <= rank y) S then w (count (in_pool rank y) S).+1 else 0).
exists (mass_below rank y * J0 + (\sum_(v | rank v == rank y) d v) * J1 + Z) => A Ay; set p := \sum_(v | A v) d v.
rewrite expect_draws.
have first_draft x : expect (draw_independent d n) (fun xs => counted rank w y A (x :: xs))
    = (if rank x < rank y then p * J0 else 0) + (if rank x == rank y then p * J1 else 0) + (if A x then Z else 0).
  have [Ax|Ax] := boolP (A x).
    rewrite (Ay _ Ax) ltxx eqxx add0r -(F1 A Ay) -expect_add; apply: expect_eq => S.
    rewrite /counted /= (Ay _ Ax) lexx eqxx Ax /= add1n; case: (all _ S); last by rewrite addr0.
    by rewrite -[X in X%:R]addn1 natrD mulrDl mul1r.
  rewrite addr0 /counted /= (negPf Ax); case: (ltgtP (rank x) (rank y)) => xy /=.
  - by rewrite addr0 -(F0 A Ay); apply: expect_eq => S; rewrite /counted add0n.
  - by rewrite addr0 (expect_const 0 (draw_independent_valid n dd)).
  by rewrite add0r -(F1 A Ay); apply: expect_eq => S; rewrite /counted add1n.
under eq_bigr do rewrite first_draft !mulrDr.
have pulled (P : pred V) c : \sum_x d x * (if P x then c else 0) = (\sum_(x | P x) d x) * c.
  by rewrite mulr_suml [RHS]big_mkcond; apply: eq_bigr => x _; case: (P x) => //; rewrite mulr0.
by rewrite !big_split /= !pulled !mulrDr; congr (_ + _ + _); rewrite mulrCA.
Qed.

Lemma mass_splits rank y : mass_up_to rank y = mass_below rank y + \sum_(v | rank v == rank y) d v.
Proof.
rewrite (bigID (fun v => rank v == rank y)) /= [RHS]addrC; congr (_ + _); apply: eq_bigl => v.
  by rewrite andb_idl // => /eqP->.
by rewrite lt_neqAle andbC.
Qed.

Lemma pool_slopeE rank y : pool_slope rank y = @slope (of_field R) (mass_below rank y) (mass_up_to rank y) k.
Proof.
rewrite /plan_pools.pool_slope /below /up_to !massE.
by congr (slope _ _ _); apply: eq_bigl => v; rewrite at_mostE // ltNge.
Qed.

Notation forward rank := (bind (draw_independent d k) (pool_rule rank)).

(** Events of the drafted tokens need drafts, of which there are k > 0. *)
Lemma expect_le_nonempty (f g : seq V -> R) : (forall S, S != [::] -> f S <= g S) ->
  expect (draw_independent d k) f <= expect (draw_independent d k) g.
Proof.
move=> fg; case: k k0 => // n _; rewrite !expect_draws; apply: ler_sum => x _; apply: ler_wpmul2l; first exact: dd.1.
by apply: expect_le => [|S]; [exact: draw_independent_valid | exact: fg].
Qed.

Lemma expect_nonempty (f g : seq V -> R) : (forall S, S != [::] -> f S = g S) ->
  expect (draw_independent d k) f = expect (draw_independent d k) g.
Proof. by move=> fg; apply: le_anti; rewrite !expect_le_nonempty // => S S0; rewrite fg. Qed.

Theorem pool_rule_law rank y : law (forward rank) y = d y * pool_slope rank y.
Proof.
rewrite /program.law /program.chance expect_bind.
rewrite (expect_nonempty (g := counted rank (fun n => n%:R^-1) y (pred1 y))) => [|S S0]; last first.
  exact: (pick_of_hits _ _ S0).
have [J FJ] := counted_in_proportion rank y k (fun n => n%:R^-1).
rewrite (FJ (pred1 y)) => [|v /eqP->//]; rewrite (big_pred1 y) //.
set p := \sum_(v | rank v == rank y) d v.
have whole : p * J = p * pool_slope rank y.
  rewrite pool_slopeE; have -> : p = mass_up_to rank y - mass_below rank y by rewrite mass_splits addrC addKr.
  rewrite slopeE -!chance_of_drafts_within -expect_sub.
  rewrite mass_splits addrC addKr -(FJ (in_pool rank y)) => [|v /eqP//]; apply: expect_eq => S; rewrite /counted.
  case: ifP => top; last first.
    case: ifP => [low|]; last by rewrite subrr.
    by move: top; rewrite (sub_all _ low) // => v /ltW.
  have -> : all (fun v => rank v < rank y) S = (count (in_pool rank y) S == 0)%N.
    rewrite -leqn0 leqNgt -has_count -all_predC; apply: eq_in_all => v /(allP top) vy.
    by rewrite lt_neqAle vy andbT.
  by have [->|c0] := eqVneq (count _ S) 0%N; rewrite ?mul0r ?subrr // mulfV ?subr0 // pnatr_eq0.
have [p0|p0] := eqVneq p 0; last by rewrite (mulfI p0 whole).
have -> : d y = 0; last by rewrite !mul0r.
apply/eqP; rewrite eq_le dd.1 andbT -p0 /p (bigD1 y) //= ler_addl sumr_ge0 // => v _; exact: dd.1.
Qed.

(** What is put forward lies below a bound exactly where all drafts do. *)
Theorem pool_rule_below rank c :
  \sum_(v | rank v <= c) d v * pool_slope rank v = (\sum_(v | rank v <= c) d v) ^+ k.
Proof.
rewrite -chance_of_drafts_within [LHS]big_mkcond.
have -> : \sum_v (if rank v <= c then d v * pool_slope rank v else 0)
    = \sum_v law (forward rank) v * (if rank v <= c then 1 else 0).
  by apply: eq_bigr => v _; rewrite pool_rule_law; case: ifP; rewrite ?mulr1 ?mulr0.
rewrite -(expect_by_token _ id) expect_bind; apply: expect_nonempty => S S0.
apply: pick_of_one_value => [|x]; first exact: hits_nonempty.
rewrite hitsE mem_filter => /andP[/allP top xS]; congr (if _ then _ else _).
by apply/idP/allP => [xc v /top /le_trans->//|]; apply.
Qed.

Lemma pool_rule_total rank : \sum_v d v * pool_slope rank v = 1.
Proof.
transitivity (\sum_v law (forward rank) v * 1); first by apply: eq_bigr => v _; rewrite pool_rule_law mulr1.
rewrite -(expect_by_token _ id) expect_const //; apply: valid_bind (draw_independent_valid k dd) (fun=> pick_valid _).
Qed.

End Theorems.
