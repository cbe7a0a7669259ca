//! A chain of drafts verified in Rust. With `--cfg wrong` a draft is kept without its test where t ≥ d / 2.
//!
//! rustc -O --crate-type cdylib -o chain_rs.so chain.rs && spec-math audit --library chain_rs.so:verify
//! rustc -O -o chain_rs chain.rs && spec-math audit --command ./chain_rs
use std::io::BufRead;
use std::slice::from_raw_parts;

fn draw(masses: &[f64], uniform: f64) -> usize {
    let (total, mut sum) = (masses.iter().sum::<f64>(), 0.0);
    let drawn = masses.iter().position(|mass| { sum += mass; *mass > 0.0 && sum > uniform * total });
    drawn.unwrap_or(masses.iter().rposition(|mass| *mass > 0.0).unwrap_or(0))
}

fn verified(target: &[f64], draft: &[f64], drafts: &[usize], uniforms: &[f64], size: usize) -> Vec<usize> {
    let last = uniforms[drafts.len()];
    for (at, &token) in drafts.iter().enumerate() {
        let (t, d) = (&target[at * size..(at + 1) * size], &draft[at * size..(at + 1) * size]);
        let likely = cfg!(wrong) && 2.0 * t[token] >= d[token];
        if likely || uniforms[at] * d[token] < t[token] { continue; }
        let rest: Vec<f64> = t.iter().zip(d).map(|(t, d)| (t - d).max(0.0)).collect();
        return [&drafts[..at], &[draw(&rest, last)]].concat();
    }
    [drafts, &[draw(&target[drafts.len() * size..], last)]].concat()
}

/// The adapter of a shared library.
/// # Safety
/// The pointers hold as many numbers as the sizes say.
#[no_mangle]
pub unsafe extern "C" fn verify(target: *const f64, draft: *const f64, drafts: *const i32, uniforms: *const f64,
                                vocabulary: i32, drafted: i32, emitted: *mut i32) -> i32 {
    let (size, number) = (vocabulary as usize, drafted as usize);
    let tokens: Vec<usize> = from_raw_parts(drafts, number).iter().map(|&token| token as usize).collect();
    let (target, draft) = (from_raw_parts(target, (number + 1) * size), from_raw_parts(draft, number * size));
    let found = verified(target, draft, &tokens, from_raw_parts(uniforms, number + 1), size);
    for (at, token) in found.iter().enumerate() { *emitted.add(at) = *token as i32; }
    found.len() as i32
}

/// The adapter of a process: the numbers of a JSON line, in their order.
#[allow(dead_code)]
fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let parts = line.split(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c));
        let numbers: Vec<f64> = parts.filter_map(|part| part.parse().ok()).collect();
        let (size, number) = (numbers[0] as usize, numbers[1] as usize);
        let (target, rest) = numbers[2..].split_at((number + 1) * size);
        let (draft, rest) = rest.split_at(number * size);
        let drafts: Vec<usize> = rest[..number].iter().map(|&token| token as usize).collect();
        println!("{{\"tokens\": {:?}}}", verified(target, draft, &drafts, &rest[number..=2 * number], size));
    }
}
