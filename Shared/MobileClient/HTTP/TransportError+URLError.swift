internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

extension TransportError {
    /// The reason of a task of URLSession that failed. The message has the code of Foundation only: its texts contain the URL.
    init(_ error: any Error) {
        let number = (error as NSError).code
        let code: URLError.Code? = (error as? URLError)?.code ?? URLError.Code(rawValue: number)
        let reason: Code =
            switch code {
            case .cancelled: .cancelled
            case .timedOut: .timedOut
            case .cannotFindHost, .cannotConnectToHost, .dnsLookupFailed, .notConnectedToInternet, .internationalRoamingOff,
                .callIsActive, .dataNotAllowed:
                .notConnected
            case .networkConnectionLost, .badServerResponse, .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData,
                .zeroByteResource:
                .connectionLost
            case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateNotYetValid,
                .serverCertificateHasUnknownRoot, .clientCertificateRejected, .clientCertificateRequired:
                .untrusted
            case .dataLengthExceedsMaximum: .tooLong
            case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotCreateFile, .cannotOpenFile, .cannotWriteToFile,
                .cannotCloseFile, .cannotRemoveFile, .cannotMoveFile:
                .file
            default: .other
            }
        self.init(reason, "URLSession failed with code \(number)")
    }
}
