internal import HeliographCrypto
internal import Imaging

extension RGBImage {
    /// The SHA-256 of the size and the pixels.
    var digest: [UInt8] {
        var hasher = SHA256.Hasher()
        hasher.update(Array("\(width)x\(height):".utf8))
        hasher.update(pixels)
        return hasher.finalize()
    }
}
