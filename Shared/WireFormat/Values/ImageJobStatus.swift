/// How far an image job has come.
public enum ImageJobStatus: String, Codable, Sendable, CaseIterable {
    case pending
    case processing
    case completed
    case failed
}
