import AsyncPrimitives
import Logging
import Metrics

extension StreamConsumer {
    /// The most entries of one read.
    private static var maxReadCount: Int { 512 }

    /// Reads until the consumer stops, with a new connection after each failure.
    func read() async {
        var failures = 0
        // A consumer that dies with entries before others know its lifeline is found dead late.
        await hasBeaten.wait()
        while !stopping.isOpen {
            progress.step()
            do throws(EventBusError) {
                try await readOverOneConnection(&failures)
            } catch  where error.code == .cancelled {
                break
            } catch  where error.code == .shutDown {
                if !stopping.isOpen { scope.logger.error("The transport was shut down under its consumer") }
                break
            } catch {
                failures += 1
                scope.metrics.readerReconnects.increment()
                scope.logger.warning("Reading failed; trying again", metadata: ["error": "\(error)"])
                await stopping.wait(upTo: configuration.backoff.delay(afterFailures: failures), clock: scope.clock)
            }
        }
    }

    private func readOverOneConnection(_ failures: inout Int) async throws(EventBusError) {
        // For each connection, because a server that lost its data has lost the groups too.
        try await transport.createGroup(scope.group, on: scope.stream)
        let reader = try await transport.openReader(scope.address)
        let interrupter = Task {
            await stopping.wait()
            while !Task.isCancelled {
                // Repeated, because the read may begin to wait just after an interruption.
                await reader.interrupt()
                try? await scope.clock.sleep(for: .milliseconds(100))
            }
        }
        defer { interrupter.cancel() }
        do throws(EventBusError) {
            try await pull(reader, &failures)
        } catch {
            await reader.close()
            throw error
        }
        await reader.close()
    }

    private func pull(_ reader: any GroupReader, _ failures: inout Int) async throws(EventBusError) {
        while !stopping.isOpen, let room = await waitForRoom() {
            let done = state.takeAcknowledgementsForRead()
            let read: ReadEntries
            do throws(EventBusError) {
                read = try await reader.read(
                    count: min(room, Self.maxReadCount), wait: configuration.readWait, acknowledging: done)
            } catch {
                // They may have been acknowledged; doing it twice is harmless.
                requeue(done)
                throw error
            }
            failures = 0
            progress.read()
            if let gone = read.gone { lostOwnership(of: state.acknowledged(done, gone: gone)) } else { requeue(done) }
            scope.metrics.delivered.increment(by: read.entries.count)
            scope.metrics.inHand.record(state.heldCount + read.entries.count)
            take(read.entries)
        }
    }

    private func waitForRoom() async -> Int? {
        progress.waitForRoom(true)
        defer { progress.waitForRoom(false) }
        return await state.waitForRoom()
    }

    private func requeue(_ ids: [EntryID]) {
        state.requeue(ids)
        state.settlementAdded.signal()
    }
}
