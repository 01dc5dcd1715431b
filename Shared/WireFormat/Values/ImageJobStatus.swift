/// The status of an image job.
public enum ImageJobStatus: String, Codable, Sendable, CaseIterable {
    case pending
    case processing
    case completed
    case failed
}
