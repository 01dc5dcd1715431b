/// The way an object is stored; its writer and its readers must use the same kind.
public enum BlobKind: Sendable, Hashable, CaseIterable {
    /// Sealed: only this system can read the object or replace it by another.
    case sealed
    /// A picture that media links lead to. A file system stores it sealed as well; an object store, which serves the links itself,
    /// stores it unsealed under its own encryption.
    case media

    /// Returns the context a sealed object is bound to: it opens only under its key and as its kind.
    func sealingContext(of key: BlobKey) -> [UInt8] {
        switch self {
        case .sealed: Array("blob:\(key.name)".utf8)
        case .media: Array("media:\(key.name)".utf8)
        }
    }
}

/// The way an object is written.
public enum BlobAccess: Sendable, Hashable {
    /// As ``BlobKind/sealed``.
    case sealed
    /// A ``BlobKind/media`` object, served with that MIME type.
    case media(contentType: String)

    /// The kind of the written object.
    public var kind: BlobKind {
        switch self {
        case .sealed: .sealed
        case .media: .media
        }
    }
}
