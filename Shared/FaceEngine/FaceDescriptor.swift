/// The network's description of a face: 128 numbers, scaled to length 1.
///
/// It identifies a person, so it is never logged, and leaves the process only sealed.
public struct FaceDescriptor: Sendable, Equatable {
    /// The number of values of a descriptor.
    public static let count = 128

    let values: [Float]

    /// Creates a descriptor from any vector but zero.
    ///
    /// - Precondition: 128 finite numbers, not all zero.
    public init(normalising values: [Float]) {
        precondition(values.count == Self.count, "a descriptor has 128 numbers")
        let length = values.reduce(Float(0)) { $0 + $1 * $1 }.squareRoot()
        precondition(length.isFinite && length > 0, "a descriptor has a direction")
        self.values = values.map { $0 / length }
    }

    /// Returns the distance between two faces, from 0 to 2; ``FaceThresholds`` says what it means.
    public func distance(to other: FaceDescriptor) -> Float {
        var sum: Float = 0
        for index in 0..<Self.count {
            let difference = values[index] - other.values[index]
            sum += difference * difference
        }
        return sum.squareRoot()
    }

    /// Returns the normalised mean of several descriptors.
    ///
    /// - Precondition: At least one.
    public static func mean(_ descriptors: [FaceDescriptor]) -> FaceDescriptor {
        var sums = [Float](repeating: 0, count: count)
        for descriptor in descriptors {
            for index in 0..<count { sums[index] += descriptor.values[index] }
        }
        return FaceDescriptor(normalising: sums)
    }
}
