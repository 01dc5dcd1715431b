public import BlobStore

extension ServiceContext {
    /// Creates the store that `BLOB_STORE` names: `file` (the default, in the folder `BLOB_STORE_PATH`) or `s3` (`S3_…`).
    /// - Throws: ``ConfigurationError`` for the first setting that is missing or wrong.
    public func blobStore() throws -> any BlobStore {
        let expectation = "file or s3"
        switch try settings.optionalString("BLOB_STORE", expectation) ?? "file" {
        case "file":
            let root = try settings.string("BLOB_STORE_PATH", "a folder that identity-api and the workers share")
            return FileSystemBlobStore(root: root, sealer: sealer)
        case "s3":
            return S3BlobStore(configuration: try s3Configuration(), sealer: sealer, logger: logger)
        default:
            throw ConfigurationError("BLOB_STORE", "is not valid", expectation: expectation)
        }
    }

    private func s3Configuration() throws -> S3Configuration {
        let address = "the address of an object store without the bucket, such as https://s3.eu-central-1.amazonaws.com"
        var configuration = S3Configuration(
            endpoint: try valid("S3_ENDPOINT", address, S3Configuration.isEndpoint),
            bucket: try valid("S3_BUCKET", "the name of a bucket", S3Configuration.isBucket),
            region: try valid("S3_REGION", "the region of the bucket, such as eu-central-1", S3Configuration.isRegion),
            accessKeyID: try settings.string("S3_ACCESS_KEY_ID", "the object store's access key"),
            secretAccessKey: try settings.string("S3_SECRET_ACCESS_KEY", "the object store's secret access key"),
            spoolDirectory: try settings.optionalString("S3_SPOOL_PATH"))
        if try settings.optionalString("S3_PUBLIC_ENDPOINT") != nil {
            configuration.publicEndpoint = try valid("S3_PUBLIC_ENDPOINT", address, S3Configuration.isEndpoint)
        }
        let encryption = try settings.optionalString("S3_ENCRYPTION") ?? "AES256"
        guard ["AES256", "none"].contains(encryption) else {
            throw ConfigurationError("S3_ENCRYPTION", "is not valid", expectation: "AES256 or none")
        }
        configuration.asksForEncryption = encryption == "AES256"
        configuration.caFile = try settings.optionalString("S3_CA_FILE")
        return configuration
    }

    private func valid(
        _ name: String, _ expectation: String, _ isValid: (String) -> Bool
    ) throws(ConfigurationError) -> String {
        let value = try settings.string(name, expectation)
        guard isValid(value) else { throw ConfigurationError(name, "is not valid", expectation: expectation) }
        return value
    }
}
