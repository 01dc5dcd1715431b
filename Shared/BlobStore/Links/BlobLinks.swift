/// Makes links to objects of a store. Needs no keys of sealed objects.
public protocol BlobLinks: Sendable {
    /// Returns a link that gives its holder read access to a ``BlobKind/media`` object until it expires; nil when the store cannot
    /// serve links itself. The existence of the object is not checked.
    ///
    /// - Parameter expires: The lifetime of the link; more than seven days count as seven days.
    func link(to key: BlobKey, expires: Duration) -> String?
}
