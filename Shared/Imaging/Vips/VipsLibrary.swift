internal import CVips

/// libvips itself: started once, on first use, for untrusted pictures.
enum VipsLibrary {
    /// The loaders that may run. Every other one is blocked, so that no operation can be talked into a PDF, an SVG or a GIF.
    private static let loaders = ["Jpeg", "Png", "Webp", "Heif"]

    /// True once libvips is ready.
    ///
    /// No operation is cached, as no two pictures share one, and every operation computes on the thread that asks (plus
    /// one of libvips' own): a worker uses the cores by working on several pictures.
    static let isReady: Bool = {
        keepNoLargeMemory()
        guard vips_init("heliograph") == 0 else { return false }
        vips_block_untrusted_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        for loader in loaders { vips_operation_block_set("VipsForeignLoad\(loader)Buffer", 0) }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        // Warnings about a stranger's picture do not belong on the standard error.
        let all = GLogLevelFlags(rawValue: ~(G_LOG_FLAG_FATAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
        g_log_set_handler("VIPS", all, { _, _, _, _ in }, nil)
        return true
    }()

    /// Has the C library give large memory back as soon as it is freed.
    ///
    /// Once a picture was freed, it would otherwise take the next ones from a heap of each thread, and keep them there.
    private static func keepNoLargeMemory() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, 256 << 10)
        #endif
    }

    /// Throws when libvips does not work on this machine.
    static func start() throws(ImagingError) {
        guard isReady else { throw ImagingError(.unavailable, "libvips does not start") }
    }

    /// Gives back what libvips keeps for the calling thread.
    static func leaveThread() {
        // Before libvips was ever started the call would crash.
        if isReady { vips_thread_shutdown() }
    }

    /// What libvips has to say of the last failure on this thread, which is of structure and never of content.
    static func failure(_ operation: String, _ code: ImagingError.Code = .corrupt) -> ImagingError {
        defer { vips_error_clear() }
        let text = vips_error_buffer().map { String(cString: $0) } ?? ""
        let line = text.split(separator: "\n").first.map(String.init) ?? "no reason given"
        return ImagingError(code, "\(operation): \(line.prefix(160))")
    }
}
