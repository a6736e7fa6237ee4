-- +goose Up
-- A version may have the name that it renames, which older programs do not read, and a version before it by that name.
SELECT 1;
