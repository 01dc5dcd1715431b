/// How an object is kept, which whoever writes it and whoever reads it must agree on.
public enum BlobKind: Sendable, Hashable, CaseIterable {
    /// Sealed: nobody but this system can read it, or put another in its place.
    case sealed
    /// A picture that links lead to. A file system keeps it sealed as well; an object store, which has to hand it out by
    /// itself, keeps it as it is, under its own encryption.
    case media

    /// What a sealed object is bound to: it opens under no other key, and as no other kind.
    func sealingContext(of key: BlobKey) -> [UInt8] {
        switch self {
        case .sealed: Array("blob:\(key.name)".utf8)
        case .media: Array("media:\(key.name)".utf8)
        }
    }
}

/// How an object is written.
public enum BlobAccess: Sendable, Hashable {
    /// As ``BlobKind/sealed``.
    case sealed
    /// As ``BlobKind/media``, to be handed out as that MIME type.
    case media(contentType: String)

    /// The kind of object that this makes.
    public var kind: BlobKind {
        switch self {
        case .sealed: .sealed
        case .media: .media
        }
    }
}
