internal import Foundation

/// Makes photos smaller.
protocol PhotoScaling: Sendable {
    /// Scales a photo down to a longer side of at most `maxSide` pixels, upright, as a JPEG of good quality.
    ///
    /// It works on the thread that calls it, for up to some seconds.
    /// - Returns: Nil for a photo that cannot be decoded.
    func jpeg(of photo: PhotoSource, maxSide: Int) -> Data?
}
