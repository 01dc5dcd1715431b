internal import COpenSSL

/// OpenSSL itself, which libpq and libcurl use as well.
public enum OpenSSLLibrary {
    /// Keeps OpenSSL's memory until the process has ended. Call it before OpenSSL is used for the first time.
    ///
    /// By default a handler of `exit(3)` frees it. A process that exits because of a wrong setting already has threads of clients, and a
    /// thread inside OpenSSL crashed the process (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`).
    public static func keepUntilExit() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
