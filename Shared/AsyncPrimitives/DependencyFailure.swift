/// An error of a client, such as that of a database or an object store, that knows whether the dependency was the cause.
public protocol DependencyFailure: Error {
    /// Whether the dependency is unavailable: the work that failed is not the cause, and the same work may succeed later.
    var isUnavailability: Bool { get }
}

extension Error {
    /// Whether a dependency is unavailable; false for an error that does not say so.
    ///
    /// The bus retries such a message without counting a failure, and the API answers 503.
    public var isDependencyUnavailable: Bool { (self as? any DependencyFailure)?.isUnavailability ?? false }
}
