/// A projective map of the plane (Hartley and Zisserman, "Multiple View Geometry", 2nd edition, section 2.3).
struct Homography {
    /// The numbers of the matrix row by row; the last one is 1.
    private let matrix: [Double]

    /// Creates the map that takes four points to four others; nil when three of the first lie on a line.
    init?(from: [SIMD2<Double>], to: [SIMD2<Double>]) {
        precondition(from.count == 4 && to.count == 4, "a projective map is determined by four points")
        var rows: [[Double]] = []
        for (p, q) in zip(from, to) {
            rows.append([p.x, p.y, 1, 0, 0, 0, -p.x * q.x, -p.y * q.x, q.x])
            rows.append([0, 0, 0, p.x, p.y, 1, -p.x * q.y, -p.y * q.y, q.y])
        }
        guard let solution = Self.solve(&rows) else { return nil }
        matrix = solution + [1]
    }

    /// Returns where a point is taken; nil for one that is taken to infinity.
    func callAsFunction(_ point: SIMD2<Double>) -> SIMD2<Double>? {
        let divisor = matrix[6] * point.x + matrix[7] * point.y + 1
        guard abs(divisor) > 1e-9 else { return nil }
        return SIMD2(
            (matrix[0] * point.x + matrix[1] * point.y + matrix[2]) / divisor,
            (matrix[3] * point.x + matrix[4] * point.y + matrix[5]) / divisor)
    }

    /// Solves linear equations by elimination with pivots; nil when they have no single solution.
    private static func solve(_ rows: inout [[Double]]) -> [Double]? {
        let count = rows.count
        for column in 0..<count {
            guard let pivot = (column..<count).max(by: { abs(rows[$0][column]) < abs(rows[$1][column]) }),
                abs(rows[pivot][column]) > 1e-9
            else { return nil }
            rows.swapAt(column, pivot)
            for row in 0..<count where row != column {
                let factor = rows[row][column] / rows[column][column]
                for index in column...count { rows[row][index] -= factor * rows[column][index] }
            }
        }
        return (0..<count).map { rows[$0][count] / rows[$0][$0] }
    }
}
