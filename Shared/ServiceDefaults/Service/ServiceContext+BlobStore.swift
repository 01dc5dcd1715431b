public import Accounts
public import BlobStore
public import HeliographCrypto
public import Logging

extension ServiceContext {
    /// Creates the store that `BLOB_STORE` names: `file` (the default, in the folder `BLOB_STORE_PATH`) or `s3` (`S3_…`), for the
    /// folders whose objects are sealed for a purpose: ``KeyPurpose/faces`` or ``KeyPurpose/pictures``.
    ///
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public func blobStore(_ purpose: KeyPurpose) throws -> any BlobStore {
        try settings.blobStore(sealer: sealer(purpose), logger: logger)
    }

    /// Creates the media links of the store, which begin with `PUBLIC_URL` and are signed with `MEDIA_LINK_KEY`, or are links of the object
    /// store. They need no sealing key.
    ///
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public func mediaLinks() throws -> MediaLinks { try settings.mediaLinks() }
}

extension BlobFolder {
    /// The ring that seals the objects of the folder.
    public var purpose: KeyPurpose {
        switch self {
        case .sessions: .faces
        case .imageJobs, .topicPhotos: .pictures
        }
    }
}

extension Settings {
    /// Creates the store that `BLOB_STORE` names. See ``ServiceContext/blobStore(_:)``.
    public func blobStore(sealer: Sealer, logger: Logger) throws -> any BlobStore & SealedBlobs {
        switch try storeKind() {
        case .file:
            let root = try string(
                "BLOB_STORE_PATH", "a folder that identity-api and the workers share", about: "the folder of the pictures")
            return FileSystemBlobStore(root: root, sealer: sealer)
        case .s3:
            return S3BlobStore(configuration: try Self.s3Configuration(self), sealer: sealer, logger: logger)
        }
    }

    func mediaLinks() throws -> MediaLinks {
        let store = try storeKind() == .s3 ? S3Links(configuration: Self.s3Configuration(self)) : nil
        return MediaLinks(store: store, signer: try linkSigner())
    }

    private func storeKind() throws(ConfigurationError) -> StoreKind {
        try choice("BLOB_STORE", default: StoreKind.file, about: "where pictures are kept")
    }

    func linkSigner() throws(ConfigurationError) -> MediaLinkSigner {
        let urlExpectation = "where phones reach identity-api, such as https://api.example.org (http:// for this machine only)"
        guard let publicURL = PublicURL(try string("PUBLIC_URL", urlExpectation, about: "what links to pictures begin with")) else {
            throw ConfigurationError("PUBLIC_URL", "is not valid", expectation: urlExpectation)
        }
        let key = try secret(
            "MEDIA_LINK_KEY", byteCount: MediaLinkSigner.keyByteCount,
            about: "the key that signs links to pictures; with another one they end")
        return MediaLinkSigner(key: key, publicURL: publicURL)
    }

    private enum StoreKind: String, CaseIterable { case file, s3 }

    private enum Encryption: String, CaseIterable {
        case aes256 = "AES256"
        case none
    }

    private static func s3Configuration(_ settings: Settings) throws -> S3Configuration {
        let address = "the address of an object store without the bucket, such as https://s3.eu-central-1.amazonaws.com"
        var configuration = S3Configuration(
            endpoint: try valid(
                settings, "S3_ENDPOINT", address, about: "an object store that speaks Amazon's protocol", S3Configuration.isEndpoint),
            bucket: try valid(
                settings, "S3_BUCKET", "the name of a bucket", about: "its bucket, which must exist", S3Configuration.isBucket),
            region: try valid(
                settings, "S3_REGION", "the region of the bucket, such as eu-central-1", about: "its region", S3Configuration.isRegion),
            accessKeyID: try settings.string(
                "S3_ACCESS_KEY_ID", "the object store's access key",
                about: "its credentials, which read, write, delete and list objects of the bucket"),
            secretAccessKey: try settings.string(
                "S3_SECRET_ACCESS_KEY", "the object store's secret access key", about: "the secret of `S3_ACCESS_KEY_ID`"),
            spoolDirectory: try settings.optionalString(
                "S3_SPOOL_PATH", "a folder", otherwise: "the system's temporary folder",
                about: "a folder for objects on their way to the store: sealed, without a name, each for seconds"))
        let publicEndpoint = try settings.optionalString(
            "S3_PUBLIC_ENDPOINT", address, otherwise: "`S3_ENDPOINT`",
            about: "where phones reach the object store, when that is elsewhere; links lead there")
        if let publicEndpoint {
            guard S3Configuration.isEndpoint(publicEndpoint) else {
                throw ConfigurationError("S3_PUBLIC_ENDPOINT", "is not valid", expectation: address)
            }
            configuration.publicEndpoint = publicEndpoint
        }
        configuration.asksForEncryption =
            try settings.choice(
                "S3_ENCRYPTION", default: Encryption.aes256,
                about: """
                    the encryption that the store is asked for, for pictures that links lead to; none for stores that refuse to be asked \
                    (MinIO without a key service). All else is sealed anyway
                    """) == .aes256
        configuration.caFile = try settings.optionalString(
            "S3_CA_FILE", "the path of a PEM file of certificate authorities", otherwise: "the system's",
            about: "the authorities that sign its certificate")
        return configuration
    }

    private static func valid(
        _ settings: Settings, _ name: String, _ expectation: String, about: String, _ isValid: (String) -> Bool
    ) throws(ConfigurationError) -> String {
        let value = try settings.string(name, expectation, about: about)
        guard isValid(value) else { throw ConfigurationError(name, "is not valid", expectation: expectation) }
        return value
    }
}
