(** One position: target and draft distributions, overlap, residual, and what "lossless" means for a verifier.

    Theorem 1. Maximal coupling of one draft with the target (SpecTr, Algorithm 1) is lossless for all distributions on
    every finite vocabulary. It accepts the draft with probability Σ min(t, d). No coupling accepts more. *)
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.

(** The token that a verifier emits, and whether one of its tests accepted a draft. *)
Notation emission V := (V * bool)%type.

Section Programs.
Variables (K : numbers) (V : eqType) (tokens : seq V).
Local Open Scope numbers_scope.
Implicit Types (t d : V -> K).

Definition positive_part (a : K) : K := greatest a zero.
Definition excess_mass t d : K := sum_over tokens (fun v => positive_part (t v - d v)).
Definition overlap t d : K := sum_over tokens (fun v => least (t v) (d v)).

(** What is left of the target where the draft is taken away: (t - d)+ over its sum; the target itself where t = d. *)
Definition residual t d : V -> K :=
  if is_zero (excess_mass t d) then t else fun v => positive_part (t v - d v) / excess_mass t d.

(** The chance that a draft is accepted: min(1, a / b). *)
Definition capped_ratio (a b : K) : K := least one (a / b).

(** Draw k i.i.d. tokens. *)
Fixpoint draw_independent d (k : nat) : program K V (seq V) :=
  if k is k'.+1 then Draw d (fun x => bind (draw_independent d k') (fun xs => Ret (x :: xs))) else Ret [::].

(** SpecTr, Algorithm 1: accept the draft x with chance min(1, t(x)/d(x)), else draw from the residual. *)
Definition maximal_coupling t d (x : V) : program K V (emission V) :=
  Flip (capped_ratio (t x) (d x)) (Ret (x, true)) (Draw (residual t d) (fun y => Ret (y, false))).

End Programs.

Section Theorems.
Variables (R : realFieldType) (V : finType).
Local Open Scope ring_scope.
Implicit Types (t d : V -> R) (v x y : V).
Notation program := (program (of_field R) V).
Notation chance := (@chance (of_field R) V (enum V) _).
Notation overlap := (@overlap (of_field R) V (enum V)).
Notation excess_mass := (@excess_mass (of_field R) V (enum V)).
Notation residual := (@residual (of_field R) V (enum V)).
Notation capped_ratio := (@capped_ratio (of_field R)).
Notation maximal_coupling := (@maximal_coupling (of_field R) V (enum V)).

(** A verifier is lossless on drafts that [drafts] draws if it asks for chances and distributions only, and if the
    token that it emits has the target's distribution. *)
Definition lossless (D : Type) (drafts : program D) (verify : D -> program (emission V)) t : Prop :=
  valid (bind drafts verify) /\ forall v, chance (bind drafts verify) (fun e => e.1 == v) = t v.

Lemma overlapE t d : overlap t d = \sum_v Num.min (t v) (d v).
Proof. exact: sum_over_enum. Qed.

Lemma excess_massE t d : excess_mass t d = \sum_v Num.max (t v - d v) 0.
Proof. exact: sum_over_enum. Qed.

Lemma min_add_positive_part (a b : R) : Num.min a b + Num.max (a - b) 0 = a.
Proof.
case: (leP a b) => ab; first by rewrite max_r ?addr0 // subr_le0.
by rewrite max_l ?subr_ge0 1?ltW // addrC subrK.
Qed.

Lemma positive_part_ge0 (a : R) : 0 <= Num.max a 0.
Proof. by rewrite le_maxr lexx orbT. Qed.

Lemma overlap_add_excess t d : overlap t d + excess_mass t d = \sum_v t v.
Proof. rewrite overlapE excess_massE -big_split /=; apply: eq_bigr => v _; exact: min_add_positive_part. Qed.

Lemma excess_mass_ge0 t d : 0 <= excess_mass t d.
Proof. by rewrite excess_massE; apply: sumr_ge0 => v _; apply: positive_part_ge0. Qed.

Lemma excess_mass_eq0 t d : excess_mass t d = 0 -> forall v, t v <= d v.
Proof.
rewrite excess_massE => e0 v; rewrite -subr_le0.
have /(_ v isT) : forall w, true -> Num.max (t w - d w) 0 = 0.
  by apply: psumr_eq0P => // w _; apply: positive_part_ge0.
by move=> <-; rewrite le_maxr lexx.
Qed.

Lemma excess_mul_residual t d v : excess_mass t d * residual t d v = Num.max (t v - d v) 0.
Proof.
rewrite /position.residual /=; case: eqP => [e0|/eqP e0]; last by rewrite mulrC divfK.
by rewrite e0 mul0r; apply/esym/max_idPr; rewrite subr_le0; apply: excess_mass_eq0.
Qed.

Lemma residual_is_distribution t d : is_distribution t -> is_distribution (residual t d).
Proof.
move=> dt; rewrite /position.residual /=; case: eqP => // /eqP e0; split=> [v|].
  by rewrite divr_ge0 ?positive_part_ge0 ?excess_mass_ge0.
by rewrite -mulr_suml -excess_massE divff.
Qed.

Lemma draft_mul_capped_ratio (a b : R) : 0 <= a -> 0 <= b -> b * capped_ratio a b = Num.min a b.
Proof.
move=> a0; rewrite le_eqVlt => /predU1P[<-|b0]; first by rewrite mul0r min_r.
by rewrite /position.capped_ratio /= minr_pmulr 1?ltW // mulr1 mulrCA divff ?gt_eqF // mulr1 minC.
Qed.

Lemma capped_ratio_in01 (a b : R) : 0 <= a -> 0 <= b -> 0 <= capped_ratio a b <= 1.
Proof. by move=> a0 b0; rewrite /position.capped_ratio /= le_minr ler01 divr_ge0 //= le_minl lexx. Qed.

Lemma sum_if_eq t (f : V -> R) v : \sum_x t x * (if x == v then f x else 0) = t v * f v.
Proof. by rewrite (bigD1 v) //= eqxx big1 ?addr0 // => x /negPf->; apply: mulr0. Qed.

Lemma sum_indicator t v : \sum_x t x * (if x == v then 1 else 0) = t v.
Proof. by rewrite (bigD1 v) //= eqxx mulr1 big1 ?addr0 // => x /negPf->; apply: mulr0. Qed.

Lemma maximal_coupling_valid t d x : is_distribution t -> is_distribution d -> valid (maximal_coupling t d x).
Proof.
move=> dt dd; split; first by apply: capped_ratio_in01; [apply: dt.1|apply: dd.1].
by split=> // _; split=> //; apply: residual_is_distribution.
Qed.

Variables (t d : V -> R) (dt : is_distribution t) (dd : is_distribution d).

Theorem maximal_coupling_is_lossless : lossless (Draw (d : V -> of_field R) Ret) (maximal_coupling t d) t.
Proof.
split=> [|v]; first by split=> // x _; apply: maximal_coupling_valid.
rewrite /program.chance expect_draw.
under eq_bigr => x _ do rewrite expect_flip mulrDr mulrA draft_mul_capped_ratio ?dt.1 ?dd.1 //.
rewrite big_split /= sum_indicator.
under [X in _ + X]eq_bigr => x _ do rewrite sum_over_enum sum_indicator mulrA mulrBr mulr1.
under [X in _ + X]eq_bigr => x _ do rewrite draft_mul_capped_ratio ?dt.1 ?dd.1 //.
rewrite -mulr_suml sumrB dd.2 -overlapE.
have -> : 1 - overlap t d = excess_mass t d by rewrite -dt.2 -(overlap_add_excess t d) addrC addKr.
by rewrite excess_mul_residual min_add_positive_part.
Qed.

Theorem maximal_coupling_accepts_the_overlap :
  chance (bind (Draw (d : V -> of_field R) Ret) (maximal_coupling t d)) (fun e => e.2) = overlap t d.
Proof.
rewrite /program.chance expect_draw overlapE; apply: eq_bigr => x _.
rewrite expect_flip /= mulr1 sum_over_enum [X in _ + _ * X]big1 ?mulr0 ?addr0 => [|y _]; last exact: mulr0.
by rewrite draft_mul_capped_ratio ?dt.1 ?dd.1.
Qed.

(** No coupling of a token of distribution d with one of distribution t makes them equal more often. *)
Theorem no_coupling_accepts_more (coupling : V -> V -> R) :
  (forall x y, 0 <= coupling x y) -> (forall x, \sum_y coupling x y = d x) ->
  (forall y, \sum_x coupling x y = t y) -> \sum_x coupling x x <= overlap t d.
Proof.
move=> c0 cd ct; rewrite overlapE; apply: ler_sum => x _; rewrite le_minr -ct -cd.
by rewrite (bigD1 x) //= ler_addl sumr_ge0 //= (bigD1 x) //= ler_addl sumr_ge0.
Qed.

End Theorems.
