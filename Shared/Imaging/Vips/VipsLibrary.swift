internal import CVips

/// libvips itself: started once, on first use.
enum VipsLibrary {
    /// The loaders that a decoder may run. Every other one is blocked, so that no operation can be made to load a PDF, an SVG or a GIF.
    private static let loaders = ["Jpeg", "Png", "Webp", "Heif"]

    /// True once libvips is ready to compute; it cannot load any file.
    ///
    /// No operation is cached, because no two pictures share one. Every operation computes on the calling thread (plus one of
    /// libvips): a worker uses the cores by processing several pictures.
    private static let isReady: Bool = {
        releaseLargeAllocations()
        guard vips_init("heliograph") == 0 else { return false }
        vips_block_untrusted_set(1)
        vips_operation_block_set("VipsForeignLoad", 1)
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        vips_cache_set_max_mem(0)
        // Warnings about untrusted pictures must not appear on the standard error.
        let all = GLogLevelFlags(rawValue: ~(G_LOG_FLAG_FATAL.rawValue | G_LOG_LEVEL_ERROR.rawValue))
        g_log_set_handler("VIPS", all, { _, _, _, _ in }, nil)
        return true
    }()

    /// Makes the C library return large allocations to the system as soon as they are freed.
    ///
    /// After the first free it would otherwise raise its threshold, and allocate later pictures in the heap of each thread.
    private static func releaseLargeAllocations() {
        #if canImport(Glibc)
            mallopt(M_MMAP_THRESHOLD, 256 << 10)
        #endif
    }

    /// Throws when libvips does not work on this machine.
    static func start() throws(ImagingError) {
        guard isReady else { throw ImagingError(.unavailable, "libvips cannot be started") }
    }

    /// Prepares libvips for a process that decodes files in a sandbox, and does nothing else.
    static func startDecoding() throws(ImagingError) {
        #if canImport(Glibc)
            // A second heap would be shrunk by a look at a file of the system, which a sandbox forbids.
            mallopt(M_ARENA_MAX, 1)
        #endif
        try start()
        for loader in loaders { vips_operation_block_set("VipsForeignLoad\(loader)Buffer", 0) }
        // libvips would compile its inner loops to machine code while it runs, which a sandbox forbids.
        vips_vector_set_enabled(0)
    }

    /// Releases what libvips keeps for the calling thread.
    static func leaveThread() {
        // The call would crash if libvips was never started.
        if isReady { vips_thread_shutdown() }
    }

    /// Clears the messages of earlier pictures: a loader also leaves messages about faults from which it recovered.
    static func forgetMessages() { vips_error_clear() }

    /// Returns the last error of libvips on this thread; its message concerns structure, never content.
    static func failure(_ operation: String, _ code: ImagingError.Code = .corrupt) -> ImagingError {
        defer { vips_error_clear() }
        let text = vips_error_buffer().map { String(cString: $0) } ?? ""
        let line = text.split(separator: "\n").first.map(String.init) ?? "no reason given"
        return ImagingError(code, "\(operation): \(line.prefix(160))")
    }
}
