(** The programs of blocks on given fractions: what `test_ties_of_blocks.py` compares with the library in Python.

    Tokens are 0, ..., n - 1, and a model is a table of the prefixes that are met. Each [theorem_N] lists the numbers of
    one instance. Nothing is proved here. *)
From Coq Require Import ZArith QArith Qminmax.
From mathcomp Require Import all_ssreflect all_algebra.
From spec Require Import numbers program position recursive without_replacement text chain block tree selected_chain
  highest multi_path traversal shared_noise instances.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Notation table := (seq (seq nat * masses)).

Definition tabled (rows : table) (prefix : seq nat) : nat -> fractions :=
  listed (if [seq row.2 | row <- rows & row.1 == prefix] is m :: _ then m else [::]).

(** The texts of a length in lexicographic order, and those of 1 to so many tokens. *)
Fixpoint texts (n length : nat) : seq (seq nat) :=
  if length is l.+1 then flatten [seq [seq v :: x | x <- texts n l] | v <- iota 0 n] else [:: [::]].
Fixpoint blocks (n longest : nat) : seq (seq nat) :=
  if longest is l.+1 then blocks n l ++ texts n longest else [::].

Section Blocks.
Variables (n : nat) (target draft : table).
Notation tokens := (iota 0 n).

(** The distribution of a block, what it gives to texts when the target continues it, and the target's own texts. *)
Definition of_block (generate : seq nat -> program (seq nat)) (longest length : nat) (prefix : seq nat) : seq Q :=
  [seq chance tokens (generate prefix) (pred1 x) | x <- blocks n longest]
  ++ [seq expect tokens (generate prefix) (fun e => continued (tabled target) prefix e x) | x <- texts n length]
  ++ [seq text_chance (tabled target) prefix x | x <- texts n length].

Definition theorem_8 (lookahead : nat) : seq nat -> seq Q :=
  of_block (chain tokens (tabled target) (tabled draft) lookahead) lookahead.+1 lookahead.+1.
Definition theorem_10 (lookahead : nat) : seq nat -> seq Q :=
  of_block (block tokens (tabled target) (tabled draft) lookahead) lookahead.+1 lookahead.+1.

(** The expected number of tokens of both, and the probability of more than 0, ..., lookahead tokens of each. *)
Definition theorem_11 (lookahead : nat) (prefix : seq nat) : seq Q :=
  let by_token := chain tokens (tabled target) (tabled draft) lookahead prefix in
  let as_block := block tokens (tabled target) (tabled draft) lookahead prefix in
  flatten [seq expect tokens m (fun e => Qmake (Z.of_nat (size e)) 1 : fractions)
            :: [seq chance tokens m (fun e => (i < size e)%N) | i <- iota 0 lookahead.+1] | m <- [:: by_token; as_block]].

Definition theorem_12 (lookahead k : nat) : seq nat -> seq Q :=
  of_block (multi_path tokens (tabled target) (tabled draft) k lookahead) lookahead.+1 lookahead.+1.

(** The same selection against the conditionals that the selected chains have, from their own distribution. *)
Definition theorem_12_any (lookahead k : nat) (prefix : seq nat) : seq Q :=
  let drafts := k_chains (tabled draft) k lookahead in
  let select := @select_highest fractions _ (by_ratio tokens (tabled target) (tabled draft)) in
  let begun (x : seq nat) : fractions := chance tokens (selected drafts select prefix) (fun s => take (size x) s == x) in
  let row x := [seq (begun (rcons x v) / begun x)%num : Q | v <- tokens] in
  let rows := [seq (prefix ++ x, if is_zero (begun x) then [seq tabled target (prefix ++ x) v : Q | v <- tokens] else row x)
    | x <- [::] :: blocks n lookahead.-1] in
  of_block (selected_block tokens (tabled target) drafts select (fun _ => tabled rows)) lookahead.+1 lookahead.+1 prefix.

(** A tree of i.i.d. drafts: below a token that was drafted m times there are m times the next width. *)
Definition theorem_9 (widths : seq nat) : seq nat -> seq Q :=
  let next (s : nat * seq nat) drafts v := (count_mem v drafts * head 0%N s.2, behead s.2)%N in
  of_block (tree_decoding (tabled target)
      (fun p s => draw_independent (tabled draft p) s.1)
      (fun p s => recursive_rejection tokens (tabled target p) (tabled draft p)) next
      (size widths) (head 0%N widths, behead widths)) (size widths).+1 (size widths).+1.

(** A tree of drafts without replacement, whose nodes are verified as [reading] sees their drafts. *)
Definition distinct_tree (reading : seq nat -> seq nat) (widths : seq nat) : seq nat -> program (seq nat) :=
  tree_decoding (tabled target)
    (fun p s => draw_distinct tokens (tabled draft p) (head 0%N s) [::])
    (fun p s drafts => verify_distinct tokens (tabled draft p) (tabled target p) [::] (reading drafts))
    (fun s drafts v => behead s) (size widths) widths.
Definition theorem_9_distinct (widths : seq nat) : seq nat -> seq Q :=
  of_block (distinct_tree id widths) (size widths).+1 (size widths).+1.

Definition theorem_15 (widths : seq nat) : seq nat -> seq Q :=
  of_block (traversal tokens (tabled target) (tabled draft) (fun levels _ => nth 0%N widths (size widths - levels))
      (size widths)) (size widths).+1 (size widths).+1.

(** Two rounds of one draft each. *)
Definition two_rounds : seq nat -> seq Q :=
  of_block (rounds 2 (chain tokens (tabled target) (tabled draft) 1)) 4 3.

End Blocks.

(** Uniform noise of so many values, which a table decodes after each prefix. The drafts see the noise: each is the
    value of its noise modulo the number of tokens. *)
Definition theorem_16 (n values length : nat) (decoded : seq (seq nat * seq nat)) (prefix : seq nat) : seq Q :=
  let decode (p : seq nat) z := nth 0%N (if [seq row.2 | row <- decoded & row.1 == p] is m :: _ then m else [::]) z in
  let guess (p noise : seq nat) := [seq z %% n | z <- noise] in
  let write noise := speculative decode guess (size noise) prefix noise in
  let noise_law := listed (nseq values (Qmake 1 (Pos.of_nat values))) in
  flatten [seq [seq Qmake (Z.of_nat y) 1 | y <- write noise] | noise <- texts values length]
  ++ [seq chance (iota 0 values) (draw_independent noise_law length) (fun noise => write noise == x)
     | x <- texts n length].
