/// Makes a picture from a picture, in the style of a template.
public protocol ImageGenerator: Sendable {
    /// The value of `modelUsed` unless the answer names a more exact model: `local`, or a model's name.
    var name: String { get }
    /// Whether a call costs money, so that the calls of a day are limited.
    var isPaid: Bool { get }

    /// Makes one picture with one call, without retries.
    ///
    /// Retries are left to the caller, which counts the calls because they are paid for; ``GenerationError/isTerminal`` and
    /// ``GenerationError/retryAfter`` state whether a retry can succeed, and when.
    ///
    /// - Throws: `cancelled` when the calling task is cancelled, `timeout` when the request's deadline has passed; otherwise
    ///   see ``GenerationError/Code``.
    func generate(_ request: GenerationRequest) async throws(GenerationError) -> GeneratedImage
}
