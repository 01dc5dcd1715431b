public import BlobStore

extension ServiceContext {
    /// Creates the store that `BLOB_STORE` names: `file` (the default, in the folder `BLOB_STORE_PATH`) or `s3` (`S3_…`).
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public func blobStore() throws -> any BlobStore { try blobStore(settings) }

    func blobStore(_ settings: Settings) throws -> any BlobStore {
        switch try settings.choice("BLOB_STORE", default: StoreKind.file, about: "where pictures are kept") {
        case .file:
            let root = try settings.string(
                "BLOB_STORE_PATH", "a folder that identity-api and the workers share", about: "the folder of the pictures")
            return FileSystemBlobStore(root: root, sealer: sealer)
        case .s3:
            return S3BlobStore(configuration: try Self.s3Configuration(settings), sealer: sealer, logger: logger)
        }
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
