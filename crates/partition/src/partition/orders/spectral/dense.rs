//! Eigenvalues of small dense symmetric matrices, by Jacobi's method: plane rotations make one entry after the other 0.
//!
//! O(n^3) per sweep; a handful of sweeps reaches the precision of the numbers.

/// The greatest number of sweeps. Convergence is quadratic, so this many are never needed.
const MOST_SWEEPS: usize = 60;

/// The eigenvalues of a symmetric matrix in ascending order, each with its eigenvector of length 1. `matrix` has `size`
/// rows, one after the other.
pub(super) fn eigenpairs(mut matrix: Vec<f64>, size: usize) -> Vec<(f64, Vec<f64>)> {
    // Row i of `vectors` becomes eigenvector i.
    let mut vectors = vec![0.0; size * size];
    (0..size).for_each(|i| vectors[i * size + i] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let square = |i: usize, j: usize| if i == j { 0.0 } else { matrix[i * size + j].powi(2) };
        let outside: f64 = (0..size * size).map(|place| square(place / size, place % size)).sum();
        let all: f64 = matrix.iter().map(|entry| entry * entry).sum();
        if outside <= all * f64::EPSILON * f64::EPSILON {
            break;
        }
        for p in 0..size {
            for q in p + 1..size {
                rotate(&mut matrix, &mut vectors, size, p, q);
            }
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> =
        (0..size).map(|i| (matrix[i * size + i], vectors[i * size..][..size].to_vec())).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    pairs
}

/// Rotates the plane of two coordinates so that their entry becomes 0.
fn rotate(matrix: &mut [f64], vectors: &mut [f64], size: usize, p: usize, q: usize) {
    let entry = matrix[p * size + q];
    if entry == 0.0 {
        return;
    }
    let cotangent = (matrix[q * size + q] - matrix[p * size + p]) / (2.0 * entry);
    let tangent = cotangent.signum() / (cotangent.abs() + (cotangent * cotangent + 1.0).sqrt());
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    let turned = |a: f64, b: f64| (cosine * a - sine * b, sine * a + cosine * b);
    for i in 0..size {
        (matrix[i * size + p], matrix[i * size + q]) = turned(matrix[i * size + p], matrix[i * size + q]);
    }
    for i in 0..size {
        (matrix[p * size + i], matrix[q * size + i]) = turned(matrix[p * size + i], matrix[q * size + i]);
        (vectors[p * size + i], vectors[q * size + i]) = turned(vectors[p * size + i], vectors[q * size + i]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::rng::Rng;

    #[test]
    fn pairs_solve_the_equation_and_are_orthogonal() {
        let mut rng = Rng::new(3);
        for size in [1, 2, 3, 7, 20] {
            let mut matrix = vec![0.0; size * size];
            for i in 0..size {
                for j in 0..=i {
                    let entry = rng.unit() - 0.5;
                    (matrix[i * size + j], matrix[j * size + i]) = (entry, entry);
                }
            }
            let pairs = eigenpairs(matrix.clone(), size);
            assert!(pairs.is_sorted_by(|a, b| a.0 <= b.0));
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            for (index, (value, vector)) in pairs.iter().enumerate() {
                for (row, own) in matrix.chunks(size).zip(vector) {
                    assert!((product(row, vector) - value * own).abs() < 1e-12);
                }
                for (other, (_, second)) in pairs.iter().enumerate() {
                    let expected = if index == other { 1.0 } else { 0.0 };
                    assert!((product(vector, second) - expected).abs() < 1e-12);
                }
            }
        }
    }
}
