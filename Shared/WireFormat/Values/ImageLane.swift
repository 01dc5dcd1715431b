/// The lane, and so the stream, in which an image job waits: large orders, and many of one account, must not delay those of others.
public enum ImageLane: String, BodyWord {
    /// Any job that is not ``bulk``.
    case standard
    /// The job takes long, or its account has ordered more than its share; it leaves threads to standard ones.
    case bulk
}
