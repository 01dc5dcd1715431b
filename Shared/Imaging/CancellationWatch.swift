internal import CVips
internal import Synchronization

/// Stops the computation of libvips once the caller has cancelled it.
final class CancellationWatch: Sendable {
    private let isCancelled: @Sendable () -> Bool
    private let state = Mutex(false)

    /// True once the caller was found to have cancelled.
    var hasStopped: Bool { state.withLock { $0 } }

    init(_ isCancelled: @escaping @Sendable () -> Bool) { self.isCancelled = isCancelled }

    /// Watches the computation of a picture and of pictures derived from it, until the picture is released.
    ///
    /// libvips reports progress after each band of rows, on its own thread while the caller's thread waits.
    func watch(_ picture: VipsPicture) {
        vips_image_set_progress(picture.image, 1)
        let onProgress: @convention(c) (UnsafeMutablePointer<VipsImage>?, gpointer?, gpointer?) -> Void = { image, _, watch in
            guard let image, let watch else { return }
            if Unmanaged<CancellationWatch>.fromOpaque(watch).takeUnretainedValue().check() { vips_image_set_kill(image, 1) }
        }
        g_signal_connect_data(
            picture.image, "eval", unsafeBitCast(onProgress, to: GCallback.self), Unmanaged.passRetained(self).toOpaque(),
            { watch, _ in if let watch { Unmanaged<CancellationWatch>.fromOpaque(watch).release() } }, GConnectFlags(rawValue: 0))
    }

    /// Throws `cancelled` when the caller has cancelled.
    func checkpoint() throws(ImagingError) {
        if check() { throw ImagingError(.cancelled, "the caller has cancelled") }
    }

    private func check() -> Bool {
        if hasStopped { return true }
        guard isCancelled() else { return false }
        state.withLock { $0 = true }
        return true
    }
}
