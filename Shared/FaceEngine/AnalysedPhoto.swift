/// A photo after its analysis, with the digest and signatures by which another upload of it is recognised.
public struct AnalysedPhoto: Sendable {
    /// The result of the analysis.
    public let analysis: PhotoAnalysis
    /// The SHA-256 of the working picture: decoded, turned upright, and made smaller. Metadata and the layout of the file do not change
    /// it. `nil` for a photo that cannot be decoded.
    public let pixelDigest: [UInt8]?

    /// Creates a result.
    public init(analysis: PhotoAnalysis, pixelDigest: [UInt8]?) {
        self.analysis = analysis
        self.pixelDigest = pixelDigest
    }

    /// A photo that was not decoded.
    static func unreadable(_ fault: PhotoFault) -> AnalysedPhoto {
        AnalysedPhoto(analysis: .rejected(PhotoFaults(fault)), pixelDigest: nil)
    }
}
