internal import HeliographCrypto

/// Turns face signatures into hashes that are compared in place of the pictures: the more alike two signatures are, the fewer bits of
/// their hashes differ.
///
/// Each bit is the sign of the signature's projection on a secret random direction (Charikar, "Similarity Estimation Techniques from
/// Rounding Algorithms", STOC 2002). The share of bits in which two hashes differ is the angle between the signatures divided by π.
/// Hashes of different accounts do not compare, because each account mirrors the directions in its own way.
public struct FaceSignatureHasher: Sendable {
    /// The bits of a hash.
    public static let bitCount = 1_024
    /// The most bits in which two hashes of one photo differ, which is a correlation of 0.977 between the signatures.
    ///
    /// Measured on 2,524 pairs of photos of one person and on altered copies of these photos: 99 % of copies that were compressed again,
    /// cropped by a pixel, turned by a degree, made smaller or brighter are within this limit, and 1 to 3 % of different photos of one
    /// person (docs/MODELCARD.md).
    public static let maxDistance = 70

    private static let levelCount = FaceSignature.side * FaceSignature.side

    private let key: HMACSHA256
    /// The directions one after another, each of 576 numbers that are 1 or -1.
    private let directions: [Float]

    /// Derives the directions from a secret key. Takes some milliseconds.
    public init(key: [UInt8]) {
        let code = HMACSHA256(key: key)
        self.key = code
        directions = Self.signs("direction", count: Self.bitCount * Self.levelCount, key: code)
    }

    /// Returns the hash of a signature: 128 bytes, the first bit in the highest place.
    ///
    /// - Parameter account: What identifies the account.
    public func hash(_ signature: FaceSignature, account: String) -> [UInt8] {
        let mirrors = Self.signs("account:\(account)", count: Self.levelCount, key: key)
        let levels = zip(signature.levels, mirrors).map { $0 * $1 }
        var hash = [UInt8](repeating: 0, count: Self.bitCount / 8)
        directions.withUnsafeBufferPointer { directions in
            levels.withUnsafeBufferPointer { levels in
                for bit in 0..<Self.bitCount {
                    let start = bit * Self.levelCount
                    var sum: Float = 0
                    for index in 0..<Self.levelCount { sum += directions[start + index] * levels[index] }
                    if sum > 0 { hash[bit / 8] |= 0x80 >> UInt8(bit % 8) }
                }
            }
        }
        return hash
    }

    /// Returns the number of bits in which two hashes differ.
    public static func distance(_ first: [UInt8], _ second: [UInt8]) -> Int {
        zip(first, second).reduce(0) { $0 + ($1.0 ^ $1.1).nonzeroBitCount }
    }

    /// Returns `count` random signs that the key and a name determine.
    private static func signs(_ name: String, count: Int, key: HMACSHA256) -> [Float] {
        var signs: [Float] = []
        signs.reserveCapacity(count + 255)
        var block = 0
        while signs.count < count {
            for byte in key.authenticate(Array("face signature \(name) \(block)".utf8)) {
                for bit in 0..<8 { signs.append(byte >> UInt8(bit) & 1 == 0 ? -1 : 1) }
            }
            block += 1
        }
        return Array(signs.prefix(count))
    }
}
