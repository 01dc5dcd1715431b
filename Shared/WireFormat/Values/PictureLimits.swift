/// The limits of the pictures that clients upload.
public enum PictureLimits {
    /// The maximum size of a file: 10 MiB. identity-api refuses larger ones, and workers read no larger ones.
    public static let maxBytes = 10 << 20
}
