/// The status of an image job.
public enum ImageJobStatus: String, BodyWord {
    case pending
    case processing
    case completed
    case failed
}
